import type { signals } from '#contract/growth/signals'
import { signalRecord } from '#contract/records/growth/signal'
import { viewOf } from '#contract/records/view'
import { engagementView, postView } from '#domain/growth/drafting/engagement-view'
import {
  dismissSignal,
  engageSignal,
  requireEngageable,
  type Signal,
} from '#domain/growth/learning/signal'
import { found } from '#kernel/errors'
import { merge } from '#store/engine/letter'
import { engagementOnSignal } from '#store/growth/engagements'
import { channelPart } from '#store/growth/growth-channels'
import { listSignals, saveSignal, signalById, signalPart } from '#store/growth/signals'
import type { CommandContext, Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { rankedPageOf, rankedResult } from '../engine/paging.ts'
import { clampTime } from '../engine/time-input.ts'
import { draftEngagement } from './shared/drafting-engagement.ts'
import { possibleActions } from './shared/possible-actions.ts'

const shown = viewOf(signalRecord)

const view = (context: Pick<CommandContext, 'networks'>, signal: Signal) => ({
  ...shown(signal),
  post: postView(signal),
  actions: possibleActions(context, signal).map(({ message: _, ...action }) => action),
})

export const signalHandlers: Handlers<typeof signals> = {
  async list({ status = 'open', target_id, from, to, ...input }, context) {
    const page = rankedPageOf(input)
    const filters = { status, target: target_id, from: clampTime(from), to: clampTime(to) }
    const { rows, next_cursor } = rankedResult(
      await context.read(listSignals({ ...page, ...filters })),
      page.limit,
    )
    // The database filters by effective status. The stored status of a signal that has just expired
    // may lag behind.
    return { signals: rows.map((signal) => ({ ...view(context, signal), status })), next_cursor }
  },

  async get({ id }, context) {
    const [row] = await context.read(signalById(id))
    const { is_over, ...signal } = found(row, 'no such signal')
    return { signal: view(context, is_over ? { ...signal, status: 'expired' } : signal) }
  },

  dismiss: loading(
    ({ id }) => ({ before: signalPart(id) }),
    (_, context, { before }) => {
      const known = found(before, 'no such signal')
      const signal = dismissSignal(known, context.gate.now)
      if (signal === known) return { reply: { signal: view(context, signal) }, unchanged: true }
      return { reply: { signal: view(context, signal) }, effects: { writes: [saveSignal(signal)] } }
    },
  ),

  engage: loading(
    ({ id, action }) => ({
      before: signalPart(id),
      channel: channelPart('replies'),
      other: engagementOnSignal({ signalId: id, action }),
    }),
    ({ action, instruction, body }, context, { before, ...known }) => {
      const { now } = context.gate
      const signal = found(before, 'no such signal')
      requireEngageable(signal, now)
      const words = {
        action,
        instruction: instruction?.trim() || null,
        body: body ?? null,
        signalId: signal.id,
      }
      const { network, post_id, post_url, post_author, post_text, addresses_us } = signal
      const post = { network, post_id, post_url, post_author, post_text, addresses_us }
      const { record, effects } = draftEngagement(context, { post, ...known }, words)
      const writes = [saveSignal(engageSignal(signal, record.id, now))]
      return {
        reply: { engagement: engagementView(record) },
        effects: merge(effects, { writes }),
        refId: record.id,
      }
    },
  ),
}
