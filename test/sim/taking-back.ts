/** What people withdraw: reopened, rejected or deleted, also when it is about to be sent. */
import type { AppError } from '#kernel/errors'
import type { CommandContext } from '#ops/engine/call'
import type { StateName } from '#test/domain/records'
import { recallsEngagement } from './engagement-life.ts'
import { bodies } from './texts.ts'
import { count, type Hold, itemOf, type World } from './world.ts'

const refused = '409'
type Cell = StateName | typeof refused

/**
 * Where these commands lead. What is claimed is taken back before its send begins, and refused from
 * then on.
 */
const table: Record<string, Partial<Record<StateName, Cell[]>>> = {
  reopen: {
    drafted: ['drafted'],
    approved: ['drafted'],
    scheduled: ['drafted'],
    rejected: ['drafted'],
    publish_failed: ['drafted'],
    publishing: ['drafted', refused],
  },
  reject: { publishing: ['rejected', refused] },
  // Deleted, an item is what it will be when it is restored. What may have been on the network
  // stays.
  delete: {
    drafted: ['drafted', refused],
    approved: ['drafted', refused],
    scheduled: ['drafted', refused],
    rejected: ['rejected', refused],
    publish_failed: ['publish_failed', refused],
    publishing: ['drafted', refused],
  },
  /** The same text and account change nothing. */
  rewrite: {
    drafted: ['drafted'],
    approved: ['drafted', 'approved'],
    scheduled: ['drafted', 'scheduled'],
    rejected: ['rejected', refused],
    publish_failed: ['publish_failed', refused],
    posted: ['posted', refused],
    publishing: ['drafted', 'publishing', refused],
  },
  restore: { drafted: ['drafted'], rejected: ['rejected'], publish_failed: ['publish_failed'] },
}

/**
 * Where the command may lead an item in this state; undefined where the table of the document says
 * it.
 */
export const withdrawn = (command: string, from: StateName): Cell[] | undefined => {
  const known = table[command]?.[from]
  return known ?? (command === 'reject' || table[command] === undefined ? undefined : [refused])
}

/** Their letters decide alone, as in the contract. */
export const recalls = (command: string): boolean =>
  ['reopen', 'reject', 'delete', 'rewrite'].includes(command) || recallsEngagement(command)

/** Another text, or another account; sometimes those that it has. */
export const rewritings: { body?: string; account?: string | null }[] = [
  ...bodies.map((body) => ({ body })),
  ...[{ account: 'connection-one' }, { account: 'connection-two' }, { account: null }],
]

export const NEVER_SENT = ['failed', 'unsent']

interface Change {
  id: string
  from: StateName
  to: StateName
  command: string
}

/** After a commit of such a command. */
export const checkWithdrawn = (
  world: World,
  { id, from, to, command }: Change,
  hold: Hold,
): void => {
  const own = [...world.memory.attempts.values()].filter(({ record_id }) => record_id === id)
  if (from === 'publishing' && to !== 'publishing') {
    count(world, `recalled by ${command}`)
    world.underWay.delete(id)
    hold(
      own.every(({ state }) => state !== 'open'),
      'taken back, and its attempt is open',
    )
  }
  if (!world.memory.deleted.has(id)) return
  hold(
    own.every(({ state }) => NEVER_SENT.includes(state)),
    'deleted, though it may have been on the network',
  )
}

/**
 * Ids of attempts whose send is held up in the process that decides: it can still be called back.
 */
export const recallable = ({ memory, wires }: World, { lanes }: CommandContext): Set<string> => {
  const live = new Set(lanes.ids())
  const claimed = new Set(
    [...memory.works.values()].filter(({ id }) => live.has(id)).map(({ ref_id }) => ref_id),
  )
  const wired = new Set(wires.map(({ request }) => request.attemptId))
  return new Set(
    [...memory.attempts.values()]
      .filter(({ id, record_id }) => claimed.has(record_id) && !wired.has(id))
      .map(({ id }) => id),
  )
}

const isSending = ({ memory: { items, engagements } }: World, id: string): boolean =>
  items.get(id)?.status === 'publishing' || engagements.get(id)?.status === 'executing'

/** A command was refused. `own`: the attempts whose send its process held up. */
export const checkTooLate = (
  world: World,
  { id, command }: { id: string; command: string },
  { cause, own }: { cause: unknown; own: ReadonlySet<string> },
): void => {
  // It may ask for what cannot be, such as an account that is disconnected.
  if ((cause as AppError).code !== 'conflict') return
  const { attempts, works } = world.memory
  const send = [...works.values()].find(({ kind, ref_id }) => kind === 'send' && ref_id === id)
  // After a failure nobody knows yet what was claimed.
  if (world.hasFailed || !isSending(world, id) || send?.payload.again !== undefined) return
  const its = [...attempts.values()].filter(({ record_id }) => record_id === id)
  // What an earlier attempt may have posted is kept.
  if (
    command.startsWith('delete') &&
    its.some(({ state }) => state !== 'open' && !NEVER_SENT.includes(state))
  )
    return
  for (const one of its)
    if (one.state === 'open' && own.has(one.id))
      world.broken.push(`${id}: could have been taken back`)
}

/** A command on what is deleted finds nothing; the others are refused where their table says so. */
export const isRefusedRightly = (
  world: World,
  { name, id, from }: { name: string; id: string; from: StateName },
  cause: AppError,
): boolean => {
  if (cause.code === 'not_found')
    return world.memory.deleted.has(id) || (name === 'restore' && itemOf(world, id) === undefined)
  const { connections } = world.memory
  const isGone = connections.get(itemOf(world, id).account_id ?? '')?.status === 'disconnected'
  if (name === 'approve' && isGone) return cause.code === 'conflict'
  if (name === 'rewrite' && cause.code === 'invalid_input')
    return [...connections.values()].some(({ status }) => status === 'disconnected')
  return cause.code === 'conflict' && (withdrawn(name, from)?.includes(refused) ?? false)
}
