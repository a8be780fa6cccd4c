"""Eight themes: words for things and sentences to tell with. They differ in words only, never in what is told."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Theme:
    """The words of a theme."""

    name: str
    """Name."""
    opening: str
    """First sentences of the story."""
    adjectives: tuple[str, ...]
    """What things are like."""
    machines: tuple[str, ...]
    """What tools are called."""
    exits: tuple[str, ...]
    """What exits are called."""
    clues: tuple[str, ...]
    """Sentences that tell a value: ``{cue}`` and ``{value}``."""
    hints: tuple[str, ...]
    """Sentences that say what a parameter needs: ``{input}`` and ``{cue}``."""


def _theme(name: str, opening: str, adjectives: str, machines: str, exits: str, *sentences: str) -> Theme:
    clues = tuple(each for each in sentences if "{value}" in each)
    hints = tuple(each for each in sentences if "{input}" in each)
    return Theme(name, opening, tuple(adjectives.split()), tuple(machines.split()), tuple(exits.split()), clues, hints)


THEMES = (
    _theme(
        "cyberpunk",
        "The blast door of the data haven has come down behind you. Neon flickers over machines without a name.",
        "chrome neon flickering patched hacked rusted humming glitching mirrored smuggled wired overclocked",
        "deck splicer relay cracker node router rig scrambler probe stack coupler shunt tracer emulator bridge loom",
        "airlock gate uplink shutter",
        "Sprayed next to the {cue} you read «{value}».",
        "A sticky label by the {cue} says «{value}».",
        "Parameter `{input}` is keyed to the {cue}.",
        "For `{input}`, jack into the {cue}.",
    ),
    _theme(
        "detective",
        "The study was locked from outside. Machines and things are all over the place.",
        "dusty engraved leather crooked polished dented discreet antique lacquered folded heavy stained",
        "cabinet typewriter comparator viewer index balance projector register sorter enlarger duplicator scale "
        "recorder decoder blotter press",
        "door window passage hatch",
        "In pencil next to the {cue} a hand has noted «{value}».",
        "A slip of paper with the {cue} on it reads «{value}».",
        "What `{input}` needs belongs with the {cue}.",
        "The trail of `{input}` leads to the {cue}.",
    ),
    _theme(
        "sci-fi",
        "The station has sealed the laboratory. Instruments wait, and the log of the crew is in pieces.",
        "orbital cryogenic shielded ionised magnetic spare calibrated modular frozen pulsed quantum ceramic",
        "array reactor synthesiser resonator spectrometer beacon collimator sampler injector lattice gyroscope coil "
        "transponder analyser matrix emitter",
        "hatch bulkhead lock portal",
        "The display under the {cue} shows «{value}».",
        "Crew log, marked with the {cue}: «{value}».",
        "Input `{input}` is assigned to the {cue}.",
        "`{input}` takes what is filed under the {cue}.",
    ),
    _theme(
        "fantasy",
        "The tower has closed its walls around you. Old devices murmur, and verses hide what they want.",
        "enchanted mossy silvered runic whispering gilded crooked blessed hollow moonlit gnarled woven",
        "cauldron loom orb astrolabe altar lectern wheel censer harp forge sundial scrying-bowl quern spindle font",
        "archway portcullis portal door",
        "Runes around the {cue} spell «{value}».",
        "The bard sang of the {cue} and of «{value}».",
        "To `{input}` belongs the gift of the {cue}.",
        "`{input}` listens to the {cue} alone.",
    ),
    _theme(
        "steampunk",
        "The boiler room is locked, and the pressure rises slowly. Engines of brass and copper line the walls.",
        "brass riveted copper steaming clockwork soot-black geared hissing oiled pneumatic iron velvet-lined",
        "lathe engine bellows regulator governor piston manometer turbine crank difference-engine valve condenser "
        "loom telegraph hammer pump",
        "bulkhead lift trapdoor gate",
        "Stamped into the plate with the {cue} stands «{value}».",
        "Chalked below the {cue}: «{value}».",
        "The pipe of `{input}` runs to the {cue}.",
        "Lever `{input}` is labelled with the {cue}.",
    ),
    _theme(
        "post-apocalyptic",
        "The shelter has sealed itself for another hundred years. What others built of scrap still runs.",
        "scavenged rusted taped salvaged scorched patched dented buried makeshift faded cracked welded",
        "generator scrubber radio purifier battery still grinder welder counter antenna compressor lamp winch filter "
        "smelter charger",
        "door tunnel shaft gate",
        "Scratched into the wall at the {cue}: «{value}».",
        "The survivor who drew the {cue} also wrote «{value}».",
        "Cable `{input}` goes to the {cue}.",
        "`{input}` was always fed from the {cue}.",
    ),
    _theme(
        "mystery",
        "The last guest of the manor must get out before dawn. All it takes is here.",
        "veiled ebony faded ornate cracked porcelain silent forgotten carved tarnished crimson hidden",
        "clock piano mirror globe chessboard metronome kaleidoscope lantern music-box barometer easel sextant abacus "
        "phonograph theatre compass",
        "staircase panel door gallery",
        "On the back of the {cue} is written «{value}».",
        "The card with the {cue} bears the words «{value}».",
        "`{input}` keeps the secret of the {cue}.",
        "Who asks for `{input}` must ask the {cue}.",
    ),
    _theme(
        "techno-thriller",
        "The server vault went into lockdown with you inside. Twelve systems, no names, one way out.",
        "encrypted classified redundant armored silent patched remote isolated blacklisted hardened mobile covert",
        "terminal firewall gateway scanner beacon cluster keyboard switch monitor backup console proxy satellite drive "
        "jammer token",
        "door elevator shutter barrier",
        "The file tagged with the {cue} contains «{value}».",
        "An intercepted note about the {cue}: «{value}».",
        "Field `{input}` is cleared for the {cue}.",
        "Source of `{input}`: the {cue}.",
    ),
)

CUE_ADJECTIVES = (
    *("amber", "azure", "black", "blue", "broken", "bronze", "burning", "crimson", "dancing", "drowned", "emerald"),
    *("fallen", "frozen", "golden", "green", "grey", "ivory", "laughing", "little", "lonely", "lost", "old", "orange"),
    *("pale", "purple", "red", "running", "scarlet", "silver", "sleeping", "white", "winged", "yellow", "young"),
)
CUE_NOUNS = (
    *("anchor", "bear", "bell", "bishop", "boat", "bridge", "camel", "castle", "crow", "crown", "dolphin", "dragon"),
    *("eagle", "elk", "fish", "flower", "fox", "goat", "hare", "hawk", "heron", "horse", "hound", "king", "lion"),
    *("monk", "moon", "otter", "owl", "ox", "peacock", "pilgrim", "queen", "raven", "rose", "sailor", "ship", "snail"),
    *("snake", "spider", "stag", "star", "sun", "swan", "sword", "tiger", "tower", "tree", "turtle", "wheel", "wolf"),
)
