/** Tools of the agent that fail, each in its own way. */
import type { Tool, ToolBox, ToolContext } from '#decisions/agent/toolbox'
import type { ToolClass, ToolWay } from '#domain/agent/job/step'
import type { Sql } from '#store/engine/db'
import { changed } from './outside-tool.ts'

/** What a tool does instead of its work. */
interface BadTool {
  class: ToolClass
  way: ToolWay
  /** Runs in a letter. */
  decide?: ToolBox['decide']
  read?: ToolBox['read']
  reach?: ToolBox['reach']
  subject?: ToolBox['subject']
  text?: ToolBox['text']
}

const broken = (): never => {
  throw new Error('this tool is broken')
}

/** Longer than the database allows. */
const slowStatement = async ({ sql }: Pick<ToolContext, 'sql'>): Promise<never> => {
  await sql`select pg_sleep(60)`
  return broken()
}

/** The same with a lower limit, so that it takes less than four seconds. */
const ratherSlowStatement = async ({ sql }: Pick<ToolContext, 'sql'>): Promise<never> => {
  await sql`select set_config('statement_timeout', '300', true)`
  return slowStatement({ sql })
}

const never = (): Promise<never> => new Promise(() => {})

const command = { class: 'draft', way: 'command' } as const
const read = { class: 'read', way: 'read' } as const
const reach = { class: 'draft', way: 'reach' } as const

export const badTools = {
  throws: { ...command, decide: broken },
  is_slow_in_the_database: {
    ...command,
    decide: (_name, _args, context) => ratherSlowStatement(context),
  },
  cannot_be_written: {
    ...command,
    decide: async () => ({
      value: {},
      effects: { writes: [(sql) => sql`insert into counter (key, period) values (null, '')`] },
    }),
  },
  read_throws: { ...read, read: broken },
  read_never_ends: { ...read, read: never },
  read_cannot_be_shown: { ...read, read: async () => ({}), text: broken },
  reach_never_ends: { ...reach, reach: never },
  reach_throws_in_the_letter: { ...reach, reach: async () => broken },
  reach_is_slow_in_the_database: { ...reach, reach: async () => ratherSlowStatement },
  cannot_be_asked: { class: 'commit', way: 'command', subject: broken },
  outside_never_ends: { class: 'outside_write', way: 'outside', read: never },
} satisfies Record<string, BadTool>

export type BadToolName = keyof typeof badTools

/** Stops its workspace three times, each as long as a tool's statement may take. */
const SLOWEST = 'is_very_slow_in_the_database'

/**
 * A good tool: it reports how long its statements may take, and its letter records how long later
 * ones may take.
 */
const LIMIT_TELLER = 'tells_its_limit'
const limitTeller: BadTool = {
  ...command,
  decide: async (_name, _args, { sql }: ToolContext) => {
    const [own] = await sql<{ limit: string }>`select current_setting('statement_timeout') as limit`
    const writes = [
      (then: Sql) =>
        then`insert into counter (key, period, used) values ('limit', current_setting('statement_timeout'), 0)`,
    ]
    return { value: own, effects: { writes } }
  },
  text: (_name, value) => JSON.stringify(value),
}

const bad: Record<string, BadTool> = {
  ...badTools,
  [LIMIT_TELLER]: limitTeller,
  [SLOWEST]: { ...command, decide: (_name, _args, context) => slowStatement(context) },
}

const toolOf = ([name, { class: of, way }]: [string, BadTool]): Tool => ({
  name,
  title: name,
  description: name,
  parameters: { type: 'object', properties: {} },
  module: 'test',
  class: of,
  way,
  foreign: false,
})

/** Adds them to the agent's tools. `called` is told of each call before it fails. */
export const withBadTools =
  (called: (name: string) => unknown = () => {}) =>
  (box: ToolBox): ToolBox => {
    /** The bad tool's own method if it has one, otherwise that of the box. */
    const either =
      (what: 'decide' | 'read' | 'reach' | 'subject') =>
      (name: string, ...rest: unknown[]) => {
        const own = bad[name]?.[what] as ((...given: unknown[]) => unknown) | undefined
        if (own) called(name)
        return (own ?? (box[what] as (...given: unknown[]) => unknown).bind(box))(name, ...rest)
      }
    return changed(box, {
      tools: new Map([
        ...box.tools,
        ...Object.entries(bad).map((entry) => [entry[0], toolOf(entry)] as const),
      ]),
      mayRun: (name, caller) => name in bad || box.mayRun(name, caller),
      checked: (name, args) =>
        name in bad ? (args as Record<string, unknown>) : box.checked(name, args),
      decide: either('decide') as ToolBox['decide'],
      read: either('read') as ToolBox['read'],
      reach: either('reach') as ToolBox['reach'],
      subject: either('subject') as ToolBox['subject'],
      text: (name, value) =>
        name in bad ? (bad[name]!.text?.(name, value) ?? '{}') : box.text(name, value),
      naming: (name) => (name in bad ? {} : box.naming(name)),
      kept: (name, value) => (name in bad ? value : box.kept(name, value)),
      isForeign: (name, value) => !(name in bad) && box.isForeign(name, value),
    })
  }
