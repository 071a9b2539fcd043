/**
 * How well a model does as the workspace's agent: `npm run eval -- --model gpt-5`, with
 * OPENAI_API_KEY or OPENAI_BASE_URL set as for a server, and PRICES for a model that has no known
 * price. Prints a line for each task and the sums; exits 1 if a task was not done, if a person was
 * asked wrongly, or if something unsafe was tried. `--only approve-one,draft-two` runs some tasks,
 * `--at-once 4` several beside each other, `--json FILE` keeps all details, and `--desk` asks the
 * desk in the place of a model.
 */
import { parseArgs } from 'node:util'
import { withTemplate } from '#test/faults/own-database'
import { asSentences, deskTasks } from './desk.ts'
import { isRight } from './judge.ts'
import { attempts, modelEnv, openStage } from './open.ts'
import { lineOf, totalsLine, totalsOf } from './report.ts'
import type { Asked } from './task.ts'
import { tasks } from './tasks/index.ts'

/** A model may take its time; a task that takes longer has failed. */
const WITHIN_MS = 600_000
const POLL_MS = 200
const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    desk: { type: 'boolean', default: false },
    only: { type: 'string' },
    'at-once': { type: 'string', default: '1' },
    json: { type: 'string' },
  },
})

const misuse = (message: string): never => {
  console.error(message)
  process.exit(2)
}

const environment = (model: string | undefined): Record<string, string> => {
  if (values.desk) return {}
  if (!model) return misuse('--model takes the name of a model, such as gpt-5')
  if (!process.env.OPENAI_API_KEY && !process.env.OPENAI_BASE_URL)
    return misuse('set OPENAI_API_KEY, or OPENAI_BASE_URL for a local server')
  return modelEnv(model, process.env)
}

const wanted = (all: readonly Asked[]): readonly Asked[] => {
  if (values.only === undefined) return all
  const names = values.only.split(',')
  const unknown = names.filter((name) => !all.some((task) => task.name === name))
  if (unknown.length > 0)
    misuse(`no task ${unknown.join(', ')}; there are ${all.map(({ name }) => name).join(', ')}`)
  return all.filter(({ name }) => names.includes(name))
}

const atOnce = Number(values['at-once'])
if (!Number.isInteger(atOnce) || atOnce < 1 || atOnce > 16)
  misuse('--at-once takes a number from 1 to 16')
const env = environment(values.model)
const chosen = wanted(values.desk ? [...deskTasks, ...asSentences(tasks)] : tasks)

const found = await withTemplate(async () => {
  await using stage = await openStage({ tasks: chosen, env, withinMs: WITHIN_MS, pollMs: POLL_MS })
  return await attempts(stage, { atOnce, told: (one) => console.log(lineOf(one)) })
})
const name = values.desk ? 'desk' : values.model
console.log(`${name}: ${totalsLine(found)}`)
if (values.json)
  await Bun.write(
    values.json,
    `${JSON.stringify({ model: name, totals: totalsOf(found), attempts: found }, null, 1)}\n`,
  )
process.exit(found.every(isRight) ? 0 : 1)
