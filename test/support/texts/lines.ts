/** The records of a text with one JSON value a line. */
// biome-ignore lint/suspicious/noExplicitAny: lines have many shapes
export const jsonLines = (text: string): any[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
