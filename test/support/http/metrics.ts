/** A page of metrics, as a reader takes it. */

/** By name and labels, as they stand in the page. */
export type Samples = Readonly<Record<string, number>>

export const samplesOf = (page: string): Samples =>
  Object.fromEntries(
    page.split('\n').flatMap((line) => {
      const at = line.lastIndexOf(' ')
      return line === '' || line.startsWith('#') ? [] : [[line.slice(0, at), +line.slice(at + 1)]]
    }),
  )
