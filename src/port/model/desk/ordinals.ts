/** Lets people write `2` for the second record of the list that was shown last. */

/** `item:3`. A handle stands for one record in a conversation. */
const HANDLE = /(?<![\w./:-])[a-z][a-z_-]*:\d{1,9}(?![\w:])/
const OWN = new RegExp(`\\bid: (${HANDLE.source})`)
/** The beginning of an entry of a list. */
const ENTRY = /^(\s*)(?:[-*•]|\d{1,4}[.)])\s/

interface List {
  indent: number
  /** The handle of each entry, if it has one. */
  entries: (string | undefined)[]
}

const handleIn = (line: string): string | undefined => OWN.exec(line)?.[1] ?? HANDLE.exec(line)?.[0]

/**
 * Adds a line to the open list. Returns false if the line ends the list. Lines that are indented
 * further belong to an entry.
 */
const extend = (list: List, line: string, indent: number): boolean => {
  const last = list.entries.length - 1
  if (indent > list.indent) {
    list.entries[last] ??= OWN.exec(line)?.[1]
    return true
  }
  if (indent < list.indent || !ENTRY.test(line)) return false
  list.entries.push(handleIn(line))
  return true
}

/** `  items (2):`, a list that is a field of a record. */
const FIELD = /^ {2}\w+ \(\d+\):$/

/**
 * Whether a list can begin here. A record's text can contain anything, but it is indented as far as
 * a list that is its field.
 */
const begins = (line: string, before: string, indent: number): boolean =>
  ENTRY.test(line) && (indent < 4 || (indent === 4 && FIELD.test(before)))

/** The lists in a text, leaving out lists within an entry. */
const listsIn = (text: string): List[] => {
  const lists: List[] = []
  let open: List | undefined
  let before = ''
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue
    const indent = line.length - line.trimStart().length
    const above = before
    before = line
    if (open && extend(open, line, indent)) continue
    open = begins(line, above, indent) ? { indent, entries: [handleIn(line)] } : undefined
    if (open) lists.push(open)
  }
  return lists
}

/**
 * The handles of the list that was shown last, one for each entry. Undefined if no text has a list
 * of records.
 */
export const listedIn = (shown: readonly string[]): (string | undefined)[] | undefined =>
  shown.flatMap(listsIn).findLast(({ entries }) => entries.some((handle) => handle !== undefined))
    ?.entries

const isReference = (name: string): boolean => /(^|_)id$|Id$/.test(name)

/**
 * The arguments with positions replaced by handles. A position that the list does not have is an
 * error.
 */
export const withListed = (
  given: Record<string, unknown>,
  shown: readonly string[],
): { args: Record<string, unknown> } | { error: string } => {
  const args = { ...given }
  for (const [name, value] of Object.entries(args)) {
    if (!isReference(name) || typeof value !== 'string' || !/^\d{1,9}$/.test(value)) continue
    const entries = listedIn(shown)
    if (!entries)
      return {
        error: `${value} is a position in the list shown last, and no list has been shown. List the records first.`,
      }
    const handle = entries[Number(value) - 1]
    if (handle === undefined)
      return { error: `The list shown last has no record ${value}: it has ${entries.length}.` }
    args[name] = handle
  }
  return { args }
}
