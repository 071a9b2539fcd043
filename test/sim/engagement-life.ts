/**
 * What people do with engagements: approved, edited, withdrawn, done by hand, also when they are
 * about to be sent.
 */
import type { Engagement } from '#domain/growth/drafting/engagement'
import { AppError } from '#kernel/errors'
import type { Commanded } from './memory.ts'
import { NEVER_SENT } from './taking-back.ts'
import { count, type World } from './world.ts'

const refused = '409'
const IN_REVIEW = 'execute_unconfirmed (in review)'

/**
 * Where each command leads from each state. What is claimed is taken back before its send begins,
 * and refused from then on.
 */
const table: Record<string, Record<string, string[]>> = {
  'approve engagement': { drafted: ['approved'], [IN_REVIEW]: ['executed'] },
  'approve and execute': { drafted: ['executing'] },
  execute: { approved: ['executing'], execute_failed: ['executing'] },
  'reject engagement': {
    drafted: ['rejected'],
    execute_failed: ['rejected'],
    [IN_REVIEW]: ['rejected'],
    executing: ['rejected', refused],
  },
  // Rejected in doubt it stays.
  'reopen engagement': {
    drafted: ['drafted'],
    approved: ['drafted'],
    rejected: ['drafted', refused],
    execute_failed: ['drafted'],
    executing: ['drafted', refused],
  },
  /** The same text changes nothing. */
  'edit engagement': {
    drafted: ['drafted'],
    approved: ['drafted', 'approved'],
    executing: ['drafted', 'executing', refused],
  },
  // Deleted, it is what it will be when it is restored. What may have been on the network stays.
  'delete engagement': {
    drafted: ['drafted', refused],
    approved: ['drafted', refused],
    rejected: ['rejected', refused],
    execute_failed: ['execute_failed', refused],
    executing: ['drafted', refused],
  },
  'restore engagement': {
    drafted: ['drafted'],
    rejected: ['rejected'],
    execute_failed: ['execute_failed'],
  },
  'mark done': {
    drafted: ['executed'],
    approved: ['executed'],
    execute_failed: ['executed'],
    execute_unconfirmed: ['executed'],
    [IN_REVIEW]: ['executed'],
  },
}

/** Their letters decide alone, as in the contract. */
export const recallsEngagement = (command: string): boolean =>
  ['reject engagement', 'reopen engagement', 'edit engagement', 'delete engagement'].includes(
    command,
  )

export const decidedStates = (command: string, from: string): string[] =>
  table[command]?.[from] ?? []

interface Change {
  from: string
  to: string
  command: Commanded
}

/** After a commit of a person's command. */
export const checkDecided = (
  world: World,
  engagement: Engagement,
  { from, to, command }: Change,
): void => {
  const { id, body, account_external_id: account } = engagement
  const hold = (holds: boolean, words: string): void =>
    void (holds || world.broken.push(`${id}: ${words}`))
  const isApproved = command.name === 'approve engagement' && to === 'approved'
  if (isApproved || command.name === 'approve and execute')
    world.approvals.set(id, { body: body ?? '', account })
  if (to === 'drafted' || to === 'rejected') world.approvals.delete(id)
  if (command.name === 'mark done') world.marked.add(id)
  const own = [...world.memory.attempts.values()].filter(({ record_id }) => record_id === id)
  if (from === 'executing' && to !== 'executing') {
    count(world, `recalled by ${command.name}`)
    hold(
      own.every(({ state }) => state !== 'open'),
      'taken back, and its attempt is open',
    )
    hold(
      [...world.memory.works.values()].every(
        ({ ref_id, kind }) => ref_id !== id || kind !== 'send',
      ),
      'taken back, and would still be sent',
    )
  }
  const wasNeverSent = own.every(({ state }) => NEVER_SENT.includes(state))
  if (from === 'rejected' && to === 'drafted')
    hold(wasNeverSent, 'reopened, though it may have been done')
  if (world.memory.deleted.has(id)) hold(wasNeverSent, 'deleted, though it may have been done')
}

/** A command was refused. `state`: the engagement's. */
export const checkRefused = (
  world: World,
  { name, id }: Commanded,
  { cause, state }: { cause: unknown; state: string },
): void => {
  const code = cause instanceof AppError ? cause.code : String(cause)
  const cells = table[name]?.[state]
  const isRight = world.memory.deleted.has(id!)
    ? code === 'not_found'
    : code === (cells === undefined || cells.includes(refused) ? 'conflict' : 'x_not_connected')
  if (!isRight) world.broken.push(`${id}: ${name} was refused with ${code}, being ${state}`)
}
