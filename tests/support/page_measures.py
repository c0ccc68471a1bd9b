"""What is measured of a page in a browser: scripts that return what is wrong, or an empty list."""

STICKING_OUT = """
[...document.body.querySelectorAll('*')].filter(part => {
  const around = part.closest('.scroll, .skip');
  if ((around && around !== part) || part.matches('.skip') || part.ownerSVGElement) return false;
  const place = part.getBoundingClientRect();
  return place.width > 0 && (place.right > innerWidth + 0.5 || place.left < -0.5);
}).map(part => `${part.tagName} ${part.className}: ${part.textContent.slice(0, 60)}`)
"""
CUT_OFF = """
[...document.querySelectorAll('th, td, dt, dd, p, li, pre, h1, h2, figcaption, caption, summary')]
  .filter(part => part.scrollWidth > part.clientWidth + 1)
  .map(part => `${part.tagName} ${part.className}: ${part.textContent.slice(0, 60)}`)
"""
OUT_OF_FRAME = """
[...document.querySelectorAll('figure [role=img] text')].filter(words => {
  const frame = words.ownerSVGElement.getBoundingClientRect(), place = words.getBoundingClientRect();
  return place.left < frame.left - 3 || place.right > frame.right + 3
    || place.top < frame.top - 3 || place.bottom > frame.bottom + 3;
}).map(words => words.textContent)
"""
# The right edge of what a section shows, as a share of its width: text, pictures, tables, commands.
BLANK_AT_THE_RIGHT = """
[...document.querySelectorAll('header, section')].flatMap(section => {
  const place = section.getBoundingClientRect(), style = getComputedStyle(section);
  if (place.height < 160) return [];  // a sentence under its heading
  const left = place.left + parseFloat(style.paddingLeft);
  const right = place.right - parseFloat(style.paddingRight);
  const parts = [...section.querySelectorAll('p, li, dd, figcaption, table, svg, pre, .tiles')];
  const reached = Math.max(...parts.map(part => {
    const words = document.createRange();
    words.selectNodeContents(part);
    return (part.matches('p, li, dd, figcaption') ? words : part).getBoundingClientRect().right;
  }));
  const share = (Math.min(reached, right) - left) / (right - left);
  return share >= 0.85 ? [] : [`${section.id || section.tagName}: ${share.toFixed(2)}`];
})
"""
# A caption is whole where its place ends before that of what it is scrolled in.
CAPTIONS_CUT = """
[...document.querySelectorAll('caption')].filter(caption => {
  const around = caption.closest('.scroll').getBoundingClientRect(), words = document.createRange();
  words.selectNodeContents(caption);
  const place = words.getBoundingClientRect();
  return place.right > around.right + 0.5 || place.left < around.left - 0.5;
}).map(caption => caption.textContent)
"""
# The tables that are wider than their place.
SCROLLED = """
[...document.querySelectorAll('.scroll')].filter(part => part.scrollWidth > part.clientWidth + 1).length
"""
EMPTY = """
[...document.querySelectorAll('section, figure, p, li, ul, td.number, .tiles div, figcaption, .figures')]
  .filter(part => part.textContent.trim() === '' && !part.querySelector('svg') && part.checkVisibility())
  .map(part => `${part.tagName} ${part.className}`)
"""
# Pictures in a line of a table are as high as the line.
TALL = """
[...document.querySelectorAll('tbody tr')]
  .filter(row => [...row.querySelectorAll('svg')].some(svg => svg.getBoundingClientRect().height > 40))
  .map(row => row.textContent.trim().slice(0, 60))
"""
# Words of a picture that lie over each other, by more than a fifth of the smaller.
OVERLAPPING = """
[...document.querySelectorAll('figure [role=img] > svg')].flatMap(svg => {
  const placed = text => [text.textContent, text.getBoundingClientRect()];
  const words = [...svg.querySelectorAll('text')].map(placed);
  return words.flatMap(([one, a], i) => words.slice(i + 1).filter(([, b]) => {
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    const least = Math.min(a.width * a.height, b.width * b.height);
    return wide > 0 && high > 0 && wide * high > 0.2 * least;
  }).map(([other]) => `${one} over ${other}`));
})
"""
