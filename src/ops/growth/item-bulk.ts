import type { Static } from '@sinclair/typebox'
import type { itemBulk } from '#contract/growth/item-bulk'
import { items as operations } from '#contract/growth/items'
import { AppError, type ErrorDetail, fail, isUnavailable } from '#kernel/errors'
import type { Role } from '#kernel/roles'
import type { Spend } from '#kernel/spend'
import { namedAuthors } from '#store/app/names'
import type { Sql } from '#store/engine/db'
import type { Gate } from '#store/engine/letter'
import { type Load, loadNow } from '#store/engine/load'
import { roleOf } from '#store/engine/principal'
import type { CommandContext, Decides, HandlerResult, Handlers } from '../engine/call.ts'
import { runHandler } from '../engine/command.ts'
import { LetterCalendar } from './shared/slot.ts'

type Input = Static<(typeof itemBulk)['bulk']['input']>
type Action = Input['action']
type Entry = Input['items'][number]
type Field = Exclude<keyof Entry, 'id'>

type Single =
  | Exclude<Action, 'delete' | 'tag' | 'post' | 'mark_posted'>
  | ('remove' | 'edit' | 'postNow' | 'markPosted')
// biome-ignore lint/suspicious/noExplicitAny: each handler is given its own operation's input
type Singles = Record<Single, Decides<any, HandlerResult<any>>>

/** The fields that an action accepts besides the item, and those that it requires. */
const fields: Record<Action, { takes: Field[]; needs: Field[] }> = {
  approve: {
    takes: ['expect_hash', 'post_at', 'on_missed', 'only_if_free'],
    needs: ['expect_hash'],
  },
  reject: { takes: ['reason'], needs: [] },
  schedule: { takes: ['post_at', 'on_missed', 'only_if_free'], needs: ['post_at'] },
  unschedule: { takes: [], needs: [] },
  reopen: { takes: [], needs: [] },
  delete: { takes: [], needs: [] },
  tag: { takes: ['tags'], needs: ['tags'] },
  post: { takes: [], needs: [] },
  mark_posted: { takes: ['url'], needs: [] },
}

/** The operation on one item by which an action is done. */
const renamed: Partial<Record<Action, Single>> = {
  delete: 'remove',
  tag: 'edit',
  post: 'postNow',
  mark_posted: 'markPosted',
}
const singleOf = (action: Action): Single => renamed[action] ?? (action as Single)

const faultsOf = ({ action, items }: Input): ErrorDetail[] => {
  const { takes, needs } = fields[action]
  return items.flatMap((entry, index) => {
    const at = (field: keyof Entry, message: string) => ({
      path: `items.${index}.${field}`,
      message,
    })
    const given = (Object.keys(entry) as (keyof Entry)[]).filter(
      (field) => field !== 'id' && entry[field] !== undefined,
    ) as Field[]
    return [
      ...(items.findIndex(({ id }) => id === entry.id) < index
        ? [at('id', 'is named before')]
        : []),
      ...needs
        .filter((field) => entry[field] === undefined)
        .map((field) => at(field, `is required to ${action}`)),
      ...given
        .filter((field) => !takes.includes(field))
        .map((field) => at(field, `does not apply to ${action}`)),
    ]
  })
}

const requireRole = ({ principal }: CommandContext, action: Action): void => {
  const { roles } = operations[singleOf(action)]
  const role: Role = roleOf(principal)
  if (role !== 'owner' && !roles.includes(role))
    fail(
      'forbidden',
      `the role ${role} cannot ${action}; it requires ${['owner', ...roles].join(' or ')}`,
    )
}

type BulkContext = CommandContext & { calendar: LetterCalendar }

/** What a decision reads, of which the calendar is read once for all. */
const loadedFor = async ({ sql, calendar }: BulkContext, load: Load) => {
  if (!load.calendar || load.calendar.omitted) return await loadNow(sql, load)
  const { calendar: _, ...others } = load
  return { ...(await loadNow(sql, others)), calendar: await calendar.read() }
}

/** The gate's counters do not know what the letter itself has spent. */
const spent = (gate: Gate, spend: readonly Spend[] = []): Gate => {
  if (spend.length === 0) return gate
  const counters = { ...gate.counters }
  for (const { key, period, amount } of spend)
    counters[`${key}@${period}`] = (counters[`${key}@${period}`] ?? 0) + amount
  return { ...gate, counters }
}

/** The outcome of one item, with its rows, its audit row and its events. */
const decideOne = async (singles: Singles, by: Single, entry: Entry, context: BulkContext) => {
  const decides = singles[by]
  const load = 'load' in decides ? decides.load(entry, context) : {}
  const loaded = await loadedFor(context, load)
  const result = await runHandler(operations[by], decides, entry, { context, loaded })
  const { reply, effects, auditDetail, unchanged, answers } = result
  const detail = auditDetail && { detail: auditDetail }
  const audit = { operation: `growth.items.${by}`, refId: entry.id, ...detail }
  context.gate = spent(context.gate, effects?.spend)
  return {
    reply: { id: entry.id, item: reply.item, error: null },
    effects: { ...effects, ...(unchanged ? {} : { audit }) },
    ...(answers && { answers }),
  }
}

/** Rethrows errors that are not refusals of this item. Nothing of the letter has happened then. */
const refusalOf = (id: string, cause: unknown) => {
  if (!(cause instanceof AppError) || isUnavailable(cause)) throw cause
  const { code, message, conflict, details = [] } = cause
  return { id, item: null, error: { code, message, ...conflict, details } }
}

type Result = Awaited<ReturnType<typeof decideOne>>['reply'] | ReturnType<typeof refusalOf>

/** With the names of those who acted first. Takes a statement where somebody has. */
const withNames = async <R extends Result>(sql: Sql, results: R[]): Promise<R[]> => {
  const authors = results.flatMap(({ error }) => error?.by ?? [])
  if (authors.length === 0) return results
  const found = await namedAuthors(authors)(sql)
  const names = new Map(found.map(({ author: { id, name } }) => [id, name]))
  return results.map((result) =>
    result.error?.by
      ? {
          ...result,
          error: {
            ...result.error,
            by: { ...result.error.by, name: names.get(result.error.by.id) ?? null },
          },
        }
      : result,
  )
}

export const itemBulkHandlers = (singles: Singles): Handlers<typeof itemBulk> => ({
  bulk: {
    async prepare(whole) {
      const details = faultsOf(whole)
      if (details.length > 0)
        fail('invalid_input', `${details[0]!.path} ${details[0]!.message}`, { details })
      return async ({ action, items }, context) => {
        requireRole(context, action)
        const { apart } = context
        if (!apart)
          return fail('conflict', `cannot ${action} many items at once here; do it with each`, {
            reason: 'many_at_once',
          })
        const within = { ...context, calendar: new LetterCalendar(context.sql) }
        const results = []
        for (const entry of items) {
          const result = await apart(() =>
            decideOne(singles, singleOf(action), entry, within),
          ).catch((cause: unknown) => refusalOf(entry.id, cause))
          if (result.item) within.calendar.moved(result.item)
          results.push(result)
        }
        const done = results.filter(({ error }) => error === null).length
        return {
          reply: { results: await withNames(context.sql, results) },
          auditDetail: { action, done, refused: results.length - done },
          unchanged: done === 0,
        }
      }
    },
  },
})
