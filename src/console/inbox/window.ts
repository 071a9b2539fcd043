/** Which rows of a long list are drawn: those on the screen, and some around them. */

/** Heights in pixels: of a row, and of the heading of a group. */
export interface Heights {
  row: number
  heading: number
}

export interface ListLine {
  /** The row's place in the list; undefined for a heading. */
  index: number | undefined
  heading?: string
  top: number
  height: number
}

/** The lines of a list, in which each group of rows has a heading unless that is undefined. */
export const linesOf = (groups: readonly (string | undefined)[], heights: Heights): ListLine[] => {
  const lines: ListLine[] = []
  let top = 0
  let before: string | undefined
  const add = (line: Omit<ListLine, 'top'>): void => {
    lines.push({ ...line, top })
    top += line.height
  }
  groups.forEach((heading, index) => {
    if (heading !== undefined && heading !== before)
      add({ index: undefined, heading, height: heights.heading })
    before = heading
    add({ index, height: heights.row })
  })
  return lines
}

export const heightOf = (lines: readonly ListLine[]): number => {
  const last = lines.at(-1)
  return last ? last.top + last.height : 0
}

/** The first line that ends below `top`, by bisection. */
const firstBelow = (lines: readonly ListLine[], top: number): number => {
  let [low, high] = [0, lines.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const line = lines[middle]!
    if (line.top + line.height <= top) low = middle + 1
    else high = middle
  }
  return low
}

/** The lines within `height` from `top`, and `beyond` more pixels on each side. */
export const linesWithin = (
  lines: readonly ListLine[],
  { top, height, beyond }: { top: number; height: number; beyond: number },
): ListLine[] =>
  lines.slice(firstBelow(lines, top - beyond), firstBelow(lines, top + height + beyond) + 1)

/** Lines and the entries whose places they have. */
interface Rows {
  lines: readonly ListLine[]
  entries: readonly { id: string }[]
}

/**
 * How far the first row on the screen that is still there has moved. 0 where nobody has scrolled:
 * there, what is new comes onto the screen.
 */
export const shiftOf = (before: Rows, after: Rows, scrolled: number): number => {
  if (scrolled <= 0 || (before.lines === after.lines && before.entries === after.entries)) return 0
  const first = firstBelow(before.lines, scrolled)
  // Mostly all that is new is below: then the row has the same place, and no other is looked at.
  const [was, is] = [before.lines[first], after.lines[first]]
  if (was?.index !== undefined && was.index === is?.index)
    if (before.entries[was.index]!.id === after.entries[is.index]!.id) return is.top - was.top
  const tops = new Map<string, number>()
  for (const { index, top } of after.lines)
    if (index !== undefined) tops.set(after.entries[index]!.id, top)
  for (const { index, top } of before.lines.slice(first)) {
    const now = index === undefined ? undefined : tops.get(before.entries[index]!.id)
    if (now !== undefined) return now - top
  }
  return 0
}
