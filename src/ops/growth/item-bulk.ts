import type { Static } from '@sinclair/typebox'
import type { itemBulk } from '#contract/growth/item-bulk'
import type { Op } from '#contract/op'
import { AppError, type ErrorDetail, fail, isUnavailable } from '#kernel/errors'
import type { Role } from '#kernel/roles'
import { loadNow } from '#store/engine/load'
import { roleOf } from '#store/engine/principal'
import type { CommandContext, Decides, HandlerResult, Handlers } from '../engine/call.ts'

type Input = Static<(typeof itemBulk)['bulk']['input']>
type Action = Input['action']
type Entry = Input['items'][number]
type Field = Exclude<keyof Entry, 'id'>

/** An operation on one item, with its handler. */
// biome-ignore lint/suspicious/noExplicitAny: each handler is given its own operation's input
type Single = { o: Pick<Op, 'roles'>; name: string; decides: Decides<any, HandlerResult<any>> }

/** The fields that an action accepts besides the item, and those that it requires. */
const fields: Record<Action, { takes: Field[]; needs: Field[] }> = {
  approve: { takes: ['expect_hash', 'post_at', 'on_missed'], needs: ['expect_hash'] },
  reject: { takes: ['reason'], needs: [] },
  schedule: { takes: ['post_at', 'on_missed'], needs: ['post_at'] },
  unschedule: { takes: [], needs: [] },
  reopen: { takes: [], needs: [] },
  delete: { takes: [], needs: [] },
  tag: { takes: ['tags'], needs: ['tags'] },
}

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

const requireRole = ({ o }: Single, { principal }: CommandContext, action: Action): void => {
  const role: Role = roleOf(principal)
  if (role !== 'owner' && !o.roles.includes(role))
    fail(
      'forbidden',
      `the role ${role} cannot ${action}; it requires ${['owner', ...o.roles].join(' or ')}`,
    )
}

/** The outcome of one item, with its rows, its audit row and its events. */
const decideOne = async ({ name, decides }: Single, entry: Entry, context: CommandContext) => {
  const { reply, effects, auditDetail, unchanged, answers } =
    typeof decides === 'function'
      ? await decides(entry, context)
      : await decides.decide(
          entry,
          context,
          (await loadNow(context.sql, decides.load(entry, context))) as never,
        )
  const audit = unchanged
    ? {}
    : { audit: { operation: name, refId: entry.id, ...(auditDetail && { detail: auditDetail }) } }
  return {
    reply: { id: entry.id, item: reply.item, error: null },
    effects: { ...effects, ...audit },
    ...(answers && { answers }),
  }
}

/** Rethrows errors that are not refusals of this item. Nothing of the letter has happened then. */
const refusalOf = (id: string, cause: unknown) => {
  if (!(cause instanceof AppError) || isUnavailable(cause)) throw cause
  const { code, message, details = [] } = cause
  return { id, item: null, error: { code, message, details } }
}

/** `singles`: for each action, the operation on one item that performs it. */
export const itemBulkHandlers = (singles: Record<Action, Single>): Handlers<typeof itemBulk> => ({
  bulk: {
    async prepare(whole) {
      const details = faultsOf(whole)
      if (details.length > 0)
        fail('invalid_input', `${details[0]!.path} ${details[0]!.message}`, { details })
      return async ({ action, items }, context) => {
        const single = singles[action]
        requireRole(single, context, action)
        const { apart } = context
        if (!apart)
          return fail('conflict', `cannot ${action} many items at once here; do it with each`)
        const results = []
        for (const entry of items)
          results.push(
            await apart(() => decideOne(single, entry, context)).catch((cause: unknown) =>
              refusalOf(entry.id, cause),
            ),
          )
        const done = results.filter(({ error }) => error === null).length
        return {
          reply: { results },
          auditDetail: { action, done, refused: results.length - done },
          unchanged: done === 0,
        }
      }
    },
  },
})
