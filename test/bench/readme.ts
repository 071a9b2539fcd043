/**
 * Puts the figures of the file into the README, between its markers. With --check, only says
 * whether they are there.
 */

import { readFigures } from './figures.ts'
import { fileText } from './table.ts'

const README = `${import.meta.dir}/README.md`
const [BEGIN, END] = [
  '<!-- figures: written by npm run generate -->\n',
  '\n<!-- end of figures -->',
]

/** `page` with `table` between the markers. */
export const withTable = (page: string, table: string): string => {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (from < 0 || to < from) throw new Error('the page has no markers for figures')
  return page.slice(0, from + BEGIN.length) + table + page.slice(to)
}

/** Resolves with whether the README changed. */
export const writeReadme = async ({ check = false } = {}): Promise<boolean> => {
  const before = await Bun.file(README).text()
  const after = withTable(before, fileText(await readFigures()))
  if (after !== before && !check) await Bun.write(README, after)
  return after !== before
}

if (import.meta.main) {
  const check = process.argv.includes('--check')
  if ((await writeReadme({ check })) && check) {
    console.error('out of date, run `npm run generate`: test/bench/README.md')
    process.exit(1)
  }
}
