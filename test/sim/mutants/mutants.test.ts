import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { handOver } from '#actors/work/growth/post-again'
import { settleSend } from '#decisions/growth/send-effects'
import { type Edit, edited, mutantsIn, withMistake } from './mutant.ts'
import { isGlobal, isNameOfProperty, programOf, walk } from './pattern.ts'

const sourceOf = (file: string) => readFileSync(file, 'utf8')

const files = [...new Bun.Glob('test/sim/*/*.diff').scanSync()]
const all = files.flatMap((file) => mutantsIn(sourceOf(file)))

/** Names that mutants add to a file, so that renaming them is seen by the compiler. */
const imported: readonly string[] = [handOver.name, settleSend.name]

/** The source with another name for each variable, function and type. */
const renamed = (source: string): string => {
  const edits = new Map<number, Edit>()
  walk(programOf(source), (node, parent, key) => {
    const [name, { start }] = [node.name as string, node]
    if (node.type === 'Property' && node.shorthand) {
      const { name } = node.key as { name: string } & typeof node
      const end = start + name.length
      if (!isGlobal(name)) edits.set(start, { start, end, text: `${name}: other_${name}` })
    }
    const isKept =
      edits.has(start) ||
      isNameOfProperty(parent, key) ||
      isGlobal(name) ||
      imported.includes(name) ||
      name === 'const'
    if (node.type === 'Identifier' && !isKept)
      edits.set(start, { start, end: start + name.length, text: `other_${name}` })
    return true
  })
  return edited(
    source,
    [...edits.values()].sort((a, b) => a.start - b.start),
  )
}

test('every planted mistake has its place in the source, whatever names the source gives', () => {
  expect(all.length).toBeGreaterThan(200)
  const lost: string[] = []
  for (const mutant of all)
    for (const source of [sourceOf(mutant.file), renamed(sourceOf(mutant.file))])
      try {
        programOf(withMistake(source, mutant))
      } catch (cause) {
        lost.push((cause as Error).message)
      }
  expect(lost).toEqual([])
})

const source = `
  const stop = (job: Job, now: Date) => {
    // A job that has ended stays as it is.
    if (job.ended !== null) return job
    const status = isLate(job, now) ? 'failed' : 'done'
    return { ...job, status, ended: now }
  }
  const begin = (job: Job) => { if (job.started) return; start(job, job.name) }
`

const made = (from: string, to: string) =>
  withMistake(source, { name: 'a mistake', file: 'job.ts', from, to })

test('a mistake takes over the names that the source has', () => {
  expect(made('if (one.ended !== null) return one', '')).not.toContain('return job\n')
  expect(made('{ ...one, status, ended: time }', '{ ...one, ended: time }')).toContain(
    'return ({ ...job, ended: now })',
  )
  expect(made("$isLate ? 'failed' : $other", "!$isLate ? 'failed' : $other")).toContain(
    "(!isLate(job, now) ? 'failed' : 'done')",
  )
  expect(made('launch($$some, one.name)', 'launch($$some)')).toContain('start(job)')
  expect(made('if (one.started) return', '')).toContain('=> {  start(job')
})

test('a mistake is refused that has no place, or more than one, or a name that is not there', () => {
  expect(() => made('if (job.started) return now', '')).toThrow('0 places')
  expect(() => made('$one.$two', '')).toThrow('3 places')
  expect(() => made('isLate(job, job)', 'false')).toThrow('0 places')
  expect(() => made('{ ...job, status, ended: now }', '{ ...job, ended: later }')).toThrow(
    'job.ts has no later',
  )
  expect(() => made('if (job', '')).toThrow('not a piece of code')
})
