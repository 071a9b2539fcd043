/** Operations that make calls of the agent needless. */
import { overtakingEffects } from '#decisions/agent/overtaking'
import { type DeedName, type HeldCall, isDeed, toolOfDeed } from '#domain/agent/job/overtaking'
import { waitingCallsAbout, waitingCallsOf } from '#store/agent/approvals'
import { type Effects, merge } from '#store/engine/letter'
import type { Loading } from '../../engine/call.ts'
import { authorOf } from './author.ts'

interface Result {
  reply?: { item?: { post_at: Date | null } }
  effects?: Effects
  unchanged?: boolean
}

type Deciding = Loading<{ id?: string }, Result>

/** The calls are read with the records of the handler, and written with its effects. */
const settling = (deed: DeedName, handler: Deciding): Deciding => ({
  ...handler,
  load: (input, call) => ({
    ...handler.load(input, call),
    asking: input.id === undefined ? waitingCallsOf(toolOfDeed(deed)) : waitingCallsAbout(input.id),
  }),
  async decide(input, context, loaded) {
    const result = await handler.decide(input, context, loaded)
    const { asking: calls } = loaded as { asking: HeldCall[] }
    if (result.unchanged || calls.length === 0) return result
    const how = {
      deed,
      by: authorOf(context),
      byJob: context.job?.id,
      postAt: result.reply?.item?.post_at,
      now: context.gate.now,
    }
    return { ...result, effects: merge(result.effects ?? {}, overtakingEffects(calls, how)) }
  },
})

/**
 * The same handlers, of which those of deeds also settle the calls that they make needless.
 * `prefix`: of the resource.
 */
export const overtaking = <H extends object>(prefix: string, handlers: H): H =>
  Object.fromEntries(
    Object.entries(handlers).map(([name, handler]) => {
      const id = `${prefix}.${name}`
      if (!isDeed(id)) return [name, handler]
      return [
        name,
        'begin' in handler
          ? { ...handler, begin: settling(id, handler.begin) }
          : settling(id, handler),
      ]
    }),
  ) as H
