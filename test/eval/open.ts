/** A server for an eval, and all tasks of it. */
import type { Thinker } from '#port/model/thinker'
import type { Overrides } from '#server/opening'
import { testApp } from '#test/support/app'
import { openReceiver, type Receiver } from '#test/support/http/receiver'
import { type Attempt, attempt, type Stage } from './stage.ts'
import { type Asked, filled, type Names } from './task.ts'

/** Makes the server take an overriding thinker for a model. */
export const SCRIPTED_ENV = { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: 'http://127.0.0.1:9' }

/** Settings of a model that a server reads. */
const SETTINGS = ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'OPENAI_STREAM', 'MODEL_CONTEXT', 'PRICES']

/** The environment of a server whose agent thinks by this model alone. */
export const modelEnv = (
  model: string,
  env: Record<string, string | undefined>,
): Record<string, string> => ({
  ...Object.fromEntries(
    SETTINGS.flatMap((name) => (env[name] ? [[name, env[name]] as const] : [])),
  ),
  MODEL_FAST: model,
  MODEL_REASONING: model,
})

export interface Opening<T extends Asked> {
  tasks: readonly T[]
  /** The model; that of the environment, or the desk, unless given. */
  thinker?: (tasks: readonly T[]) => Thinker
  overrides?: Overrides
  env?: Record<string, string>
  withinMs?: number
  pollMs?: number
}

export interface OpenStage<T extends Asked> extends Stage, AsyncDisposable {
  /** With the names filled in. */
  tasks: T[]
}

const hostOf = ({ port }: Receiver): string => `127.0.0.1:${port}`

/** All pages of all tasks, by their paths. */
const serve = (site: Receiver, tasks: readonly Asked[]): void => {
  const pages = new Map(tasks.flatMap(({ given }) => Object.entries(given?.pages ?? {})))
  const headers = { 'content-type': 'text/plain' }
  site.answer = ({ url }) =>
    pages.has(url) ? { status: 200, headers, body: pages.get(url)! } : { status: 404 }
}

export const openStage = async <T extends Asked>(opening: Opening<T>): Promise<OpenStage<T>> => {
  await using stack = new AsyncDisposableStack()
  const [site, other] = [stack.use(await openReceiver()), stack.use(await openReceiver())]
  const names: Names = { site: site.url, other: other.url, now: new Date() }
  const tasks = opening.tasks.map((task) => filled(task, names))
  serve(site, tasks)
  other.answer = { status: 200, headers: { 'content-type': 'text/plain' }, body: 'Nothing here.' }
  const env = {
    EGRESS_ALLOW: `${hostOf(site)},${hostOf(other)}`,
    FETCH_ALLOW: hostOf(site),
    ...opening.env,
  }
  const { thinker, withinMs = 30_000, pollMs = 10 } = opening
  const app = stack.use(
    await testApp({
      overrides: { ...opening.overrides, ...(thinker && { thinker: thinker(tasks) }) },
      env,
    }),
  )
  const owned = stack.move()
  return { app, tasks, withinMs, pollMs, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Every task, some at once, in the order of the list. `told` hears of each as it ends. */
export const attempts = async <T extends Asked>(
  stage: OpenStage<T>,
  { atOnce, told = () => {} }: { atOnce: number; told?: (one: Attempt) => void },
): Promise<Attempt[]> => {
  const found: Attempt[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < stage.tasks.length) {
      const nth = next++
      found[nth] = await attempt(stage, stage.tasks[nth]!)
      told(found[nth])
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return found
}
