// In place of the theme's script of the same name: 1.5 MB that every page would run to draw a dozen icons,
// which its style sheet draws from a font as well.
