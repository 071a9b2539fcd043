/**
 * Does the simulation notice mistakes? Each mutant (the files *.diff here) is made in a copy of the
 * source, and its histories must break a rule within `--seconds`: `npm run sim:mutants -- --seconds
 * 60 --only fence`, a part of its name or of the file that it changes. Prints how many histories
 * each took, and one line at the end. Writes nothing outside the system's temporary folder.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Mutant, mutantsIn, withMistake } from './mutants/mutant.ts'
import { runIn } from './programs.ts'

const text = { type: 'string' } as const
const { values } = parseArgs({ options: { seconds: text, seed: text, only: text } })
const { seconds = '60', seed = '1', only = '' } = values

const ROOT = resolve(import.meta.dir, '../..')

const copyOfSource = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'tendril-mutant-'))
  for (const name of ['actors', 'src', 'test', 'package.json', 'tsconfig.json'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

const mutate = (folder: string, mutant: Mutant): void => {
  const path = join(folder, mutant.file)
  writeFileSync(path, withMistake(readFileSync(path, 'utf8'), mutant))
}

const mutantsFor = (program: string, folder: string) =>
  [...new Bun.Glob(`${folder}/*.diff`).scanSync(import.meta.dir)]
    .sort()
    .flatMap((file) => mutantsIn(readFileSync(join(import.meta.dir, file), 'utf8')))
    .map((mutant) => ({ ...mutant, program }))

const all = [...mutantsFor('run', 'mutants'), ...mutantsFor('agent/run', 'agent')]

/**
 * The number of the first history that broke a rule, and the rule; undefined if none did in time.
 */
const found = async (
  mutant: (typeof all)[number],
): Promise<{ history: number; rule: string } | undefined> => {
  const folder = copyOfSource()
  try {
    mutate(folder, mutant)
    const args = ['--workers', '1', '--seconds', seconds, '--seed', seed]
    const { printed, complained } = await runIn(folder, mutant.program, ...args)
    if (printed.includes('sim: seed=')) return undefined
    const history = /history (\d+),/.exec(complained)?.[1]
    const rule = /^broken: (.*)$/m.exec(complained)?.[1]
    if (!history || !rule)
      throw new Error(`${mutant.name}: ended without a history: ${printed}${complained}`)
    // A mutant that cannot run proves nothing about the rules.
    if (rule.includes('ReferenceError'))
      throw new Error(`${mutant.name}: names what does not exist: ${rule}`)
    return { history: Number(history), rule }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

let survived = 0
const chosen = all.filter(({ file, name }) => `${file} ${name}`.includes(only))
if (chosen.length === 0) {
  console.error(`no mutant has ${only} in its name or its file`)
  process.exit(2)
}
for (const mutant of chosen) {
  const started = performance.now()
  const found_ = await found(mutant)
  const took = `${((performance.now() - started) / 1_000).toFixed(1)} s`
  if (!found_) survived++
  console.log(
    `${mutant.name}: ${found_ ? `history ${found_.history}, ${took}: ${found_.rule}` : `SURVIVED ${took}`}`,
  )
}
console.log(
  `mutants: seed=${seed} mutants=${chosen.length} survived=${survived} ${survived === 0 ? 'ok' : 'BROKEN: a mistake was not found'}`,
)
process.exit(survived === 0 ? 0 : 1)
