/**
 * Measures and prints a table: `npm run bench`, or with `-- --quick` in a minute and a half.
 * Everything runs on this machine over loopback, beside a peer or a limit measured in the same run:
 * trust the ratios. Sections of full size are kept in `figures.json`.
 *
 * `npm run bench:compare` measures, keeps nothing, and says what changed since that file; given
 * another file of figures, it compares that one instead of measuring.
 */
import { parseArgs } from 'node:util'
import { compare, comparisonText } from './compare.ts'
import { FIGURES, type FiguresFile, figuresText, merged, readFigures } from './figures.ts'
import { profile } from './profile.ts'
import { writeReadme } from './readme.ts'
import { measured, SECTIONS, type Sizes } from './sections.ts'
import { fileText } from './table.ts'
import { openWorld } from './world.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    /** Sections to run, separated by commas. */
    only: { type: 'string', default: SECTIONS.join(',') },
    /** Commits without waiting for the disk, as on a machine with a fast disk. */
    'no-fsync': { type: 'boolean', default: false },
    /** Prints only where the processor time of a read, a command and a due post goes. */
    profile: { type: 'boolean', default: false },
    compare: { type: 'boolean', default: false },
    seconds: { type: 'string' },
    posts: { type: 'string' },
    jobs: { type: 'string' },
    sleepers: { type: 'string' },
    awake: { type: 'string' },
  },
})

const only = values.only.split(',')
const unknown = only.filter((name) => !SECTIONS.some((section) => section === name))
if (unknown.length > 0)
  throw new Error(`no section ${unknown.join(', ')}; there are ${SECTIONS.join(', ')}`)

const durable = !values['no-fsync']
const { quick, seconds, posts, jobs, sleepers, awake } = values
const sizes: Sizes = { quick, seconds, posts, jobs, sleepers, awake }
/** Only what every full run measures alike is worth keeping. */
const full = durable && Object.values(sizes).every((value) => !value)

const measure = async (): Promise<FiguresFile> => {
  const began = performance.now()
  await using world = await openWorld(quick ? 200 : 1_000, { durable })
  const found = await measured(world, { only, durable, sizes })
  console.log(`${fileText(found)}\n`)
  console.log(`Rates are medians of turns; µs: processor time of one, in the server + in Postgres.`)
  console.log(`Took ${((performance.now() - began) / 1_000).toFixed(0)} s.`)
  return found
}

if (values.profile) {
  await using world = await openWorld(quick ? 200 : 1_000, { durable, counted: true })
  const times = { seconds: Number(seconds ?? (quick ? 2 : 5)), warmUpSeconds: quick ? 2 : 8 }
  console.log(await profile(world, { ...times, posts: Number(posts ?? (quick ? 400 : 5_000)) }))
} else if (values.compare) {
  const [other] = positionals
  const after = other === undefined ? await measure() : await readFigures(other)
  console.log(comparisonText(compare(await readFigures(), after)))
} else {
  const found = await measure()
  if (full) {
    await Bun.write(FIGURES, figuresText(merged(await readFigures(), found, SECTIONS)))
    await writeReadme()
  }
}
