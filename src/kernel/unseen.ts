/**
 * Characters of a text that nobody sees: controls, marks that reorder or break lines, and
 * everything without width, such as zero-width spaces, variation selectors and tags. A text that
 * contains one says something else to a program, or to a model, than to its reader. Line ends and
 * tabs do not count, and neither does what writing needs: characters within an emoji, and the
 * joiners between letters of scripts that use them.
 *
 * It takes one pass, and judges each character by the few beside it, so that twice the text takes
 * twice the time, whatever the text contains.
 */

/**
 * Unicode lists the signs around numerals of Arabic, Syriac and Kaithi as format characters, but
 * they are visible.
 */
const UNSEEN =
  /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufdd0-\ufdef\u{1d159}]--[\n\t\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]]/v
const PICTURE = /\p{Extended_Pictographic}/u
const CURSIVE = ['Adlm', 'Arab', 'Mand', 'Mong', 'Nkoo', 'Phag', 'Rohg', 'Syrc']
const INDIC = [
  'Beng',
  'Deva',
  'Gujr',
  'Guru',
  'Khmr',
  'Knda',
  'Mlym',
  'Mymr',
  'Orya',
  'Sinh',
  'Taml',
  'Telu',
  'Tibt',
]
/**
 * A letter, or a mark on one, of a script whose letters change their form when a joiner stands
 * between them.
 */
const JOINING = new RegExp(
  `[[\\p{L}\\p{M}]&&[${[...CURSIVE, ...INDIC].map((script) => `\\p{Script_Extensions=${script}}`).join('')}]]`,
  'v',
)

const [IS_UNSEEN, IS_PICTURE, IS_JOINING] = [1, 2, 4]

const kindOf = (point: number): number => {
  const character = String.fromCodePoint(point)
  // The last two code points of each plane are not characters.
  const isUnseen = UNSEEN.test(character) || (point & 0xfffe) === 0xfffe
  return (
    (isUnseen ? IS_UNSEEN : 0) |
    (PICTURE.test(character) ? IS_PICTURE : 0) |
    (JOINING.test(character) ? IS_JOINING : 0)
  )
}

const KNOWN = 8
/** What each character is, determined when it is first met. */
const kinds = new Uint8Array(0x110000)
const hasKind = (point: number, what: number): boolean => {
  if (kinds[point] === 0) kinds[point] = kindOf(point) | KNOWN
  return (kinds[point]! & what) !== 0
}

const [RETURN, LINE_FEED, NON_JOINER, JOINER, TEXT_STYLE, EMOJI_STYLE, KEYCAP] = [
  0x0d, 0x0a, 0x200c, 0x200d, 0xfe0e, 0xfe0f, 0x20e3,
]
const BLACK_FLAG = 0x1f3f4
/**
 * The flags of England, Scotland and Wales, which follow the black flag. No other tag sequences are
 * in general use, and tags can spell any text.
 */
const FLAG_TAGS =
  /\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/uy

const isSkin = (point: number): boolean => point >= 0x1f3fb && point <= 0x1f3ff
const isKey = (point: number): boolean =>
  (point >= 0x30 && point <= 0x39) || point === 0x23 || point === 0x2a

/** A character that may be unseen, and the ones before it; 0 if there is none. */
interface Spot {
  text: string
  at: number
  point: number
  last: number
  beforeLast: number
}

/** How many units from there on belong to the writing; 0 if the character is unseen. */
const writtenAt = ({ text, at, point, last, beforeLast }: Spot): number => {
  const next = () => text.codePointAt(at + 1) ?? 0
  switch (point) {
    case RETURN:
      return next() === LINE_FEED ? 1 : 0
    case TEXT_STYLE:
      return hasKind(last, IS_PICTURE) ? 1 : 0
    case EMOJI_STYLE:
      return hasKind(last, IS_PICTURE) || (isKey(last) && next() === KEYCAP) ? 1 : 0
    case JOINER: {
      const isAfterEmoji = hasKind(
        last === EMOJI_STYLE || isSkin(last) ? beforeLast : last,
        IS_PICTURE,
      )
      return (isAfterEmoji && hasKind(next(), IS_PICTURE)) ||
        (hasKind(last, IS_JOINING) && hasKind(next(), IS_JOINING))
        ? 1
        : 0
    }
    case NON_JOINER:
      return hasKind(last, IS_JOINING) && hasKind(next(), IS_JOINING) ? 1 : 0
  }
  if (last !== BLACK_FLAG) return 0
  FLAG_TAGS.lastIndex = at
  return FLAG_TAGS.exec(text)?.[0].length ?? 0
}

export interface Unseen {
  /** In UTF-16 units. */
  at: number
  character: string
}

const PLAIN = /^[\n\t\x20-\x7e]*$/

/** Calls `tell` for each in order, until it returns true. */
const eachUnseen = (text: string, tell: (one: Unseen) => boolean): void => {
  if (PLAIN.test(text)) return
  let [last, beforeLast] = [0, 0]
  for (let at = 0; at < text.length; ) {
    const point = text.codePointAt(at)!
    let size = point > 0xffff ? 2 : 1
    if (hasKind(point, IS_UNSEEN)) {
      const written = writtenAt({ text, at, point, last, beforeLast })
      if (written === 0 && tell({ at, character: text.slice(at, at + size) })) return
      if (written > 0) size = written
    }
    beforeLast = last
    last = point
    at += size
  }
}

export const firstUnseen = (text: string): Unseen | undefined => {
  let first: Unseen | undefined
  eachUnseen(text, (one) => {
    first = one
    return true
  })
  return first
}

export const unseenCount = (text: string): number => {
  let count = 0
  eachUnseen(text, () => {
    count++
    return false
  })
  return count
}

/** Such as `U+202E`. */
export const codePointOf = (character: string): string =>
  `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`

/** The codes of unseen characters, of which there are a few thousand. */
const codes = new Map<string, string>()

/**
 * The text with each run of unseen characters replaced, and `seen` applied to what is between them.
 */
export const replaceUnseen = (
  text: string,
  by: (run: string) => string,
  seen = (part: string) => part,
): string => {
  let [made, run, end] = ['', '', 0]
  const close = (at: number): void => {
    made += (run === '' ? '' : by(run)) + seen(text.slice(end, at))
    run = ''
  }
  eachUnseen(text, ({ at, character }) => {
    if (at > end) close(at)
    run += character
    end = at + character.length
    return false
  })
  close(text.length)
  return made
}

const shownCode = (character: string, times: number): string => {
  const code = codes.get(character) ?? codePointOf(character)
  codes.set(character, code)
  return `[${code}${times > 1 ? ` ×${times}` : ''}]`
}

/**
 * A run of unseen characters as visible codes: `[U+202E]`, or `[U+200B ×3]` for three of one kind.
 */
export const codesOf = (run: string): string => {
  let [all, last, times] = ['', '', 0]
  for (const one of run) {
    if (one !== last && times > 0) all += shownCode(last, times)
    times = one === last ? times + 1 : 1
    last = one
  }
  return times === 0 ? all : all + shownCode(last, times)
}

/** The text as it is shown to a person. */
export const withCodes = (text: string): string => replaceUnseen(text, codesOf)

/**
 * The warning that people get for a text, or for several, with `count` unseen characters. `what`:
 * for example `The text`.
 */
export const unseenWarning = (what: string, count: number): string => {
  const [noun, them] = count === 1 ? ['character', 'it'] : ['characters', 'them']
  return `${what} has ${count.toLocaleString('en')} ${noun} that nobody would see, shown as codes such as [U+200B]: programs and models read ${them}.`
}
