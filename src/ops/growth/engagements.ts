import { engagements } from '#contract/growth/engagements'
import { wordsIn } from '#contract/shapes'
import { admitEngagement } from '#decisions/growth/admission'
import { engagementSaved } from '#decisions/growth/engagement-writes'
import { notConnected } from '#decisions/growth/not-connected'
import { endByHand, enqueueSend, underWay } from '#decisions/growth/send-work'
import { onItsWay, takeBack } from '#decisions/growth/take-back'
import { requireFeature, takeCap } from '#domain/app/plan'
import {
  type EngagedPost,
  type Engagement,
  type EngagementRequest,
  type EngagementStatus,
  isWritten,
  requireAllowed,
} from '#domain/growth/drafting/engagement'
import {
  approveEngagement,
  confirmEngagement,
  isInReview,
  rejectEngagement,
  reopenEngagement,
  requestExecution,
} from '#domain/growth/drafting/engagement-moves'
import { engagementAnswer, engagementView } from '#domain/growth/drafting/engagement-view'
import type { GrowthChannel } from '#domain/growth/drafting/growth-channel'
import { engagement as moves } from '#domain/growth/sending/engagement'
import { refuseNaming } from '#domain/growth/way-on'
import { fail } from '#kernel/errors'
import type { Network } from '#port/network/network'
import { othersPost } from '#port/network/others-post'
import { forgetPending } from '#store/engine/idempotency'
import { merge } from '#store/engine/letter'
import { loadNow, when } from '#store/engine/load'
import { workFor } from '#store/engine/work'
import { accountOfRecord } from '#store/growth/attempts'
import { defaultPart } from '#store/growth/connections'
import { engagementById, engagementOn, engagementPart, listEngagements } from '#store/growth/engagements'
import { channelPart } from '#store/growth/growth-channels'
import type { CommandContext, HandlerResult, Handlers, World } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'
import { periodOf } from '../engine/time-input.ts'
import { engagementLifeHandlers } from './engagement-life.ts'
import { engagementReadingHandlers } from './engagement-reading.ts'
import { authorOf } from './shared/author.ts'
import { by, byHand, networkOf, refOf, replyOf, ruleOn, save, saveBack, the } from './shared/engagement.ts'
import { type PostReading, postIdOf, readPostFor, storedPost } from './shared/reading-post.ts'

const unreadPost = (network: Network, ref: string): EngagedPost => ({
  ...{ network: network.name, post_id: postIdOf(network, ref), post_url: null, post_author: null, post_text: null, addresses_us: false },
})

type Words = Pick<EngagementRequest, 'action' | 'instruction' | 'body'>

/** The post of the engagement. Without an account to read it, the engagement needs a body. Throws `not_found` or `conflict`. */
const foundPost = (reading: Exclude<PostReading, { kind: 'failed' }>, ref: string, { action, body }: Words): EngagedPost => {
  if (reading.kind === 'read')
    return reading.post ? storedPost(reading.network, reading.post) : fail('not_found', 'the network has no such post')
  if (isWritten(action) && body === null)
    refuseNaming(
      `drafting needs a connected account to read the post; connect an account, or pass the body of the ${action}`,
      'growth.connections.list',
    )
  return unreadPost(reading.network, ref)
}

interface Known {
  /** For replies. */
  channel: GrowthChannel | undefined
  /** The open or executed engagement of the same action on the post. */
  other: Pick<Engagement, 'id' | 'status'> | undefined
}

/** Drafts an engagement on a post that has been read. */
export const draftEngagement = (
  context: CommandContext,
  { post, channel, other }: Known & { post: EngagedPost },
  { signalId, ...words }: Words & { signalId: string | null },
) => {
  const network = networkOf(context, post)
  const request = { ...post, ...words, signal_id: signalId }
  const preflight = network.preflight(words.action, othersPost(post))
  const admission = { gate: context.gate, origin: 'manual', by: authorOf(context) } as const
  return admitEngagement(admission, { request, rule: ruleOn(network, channel), preflight, other })
}

/** The network and the id of the post, if both are known. */
const placeOf = (reading: PostReading, ref: string): { network: string; postId: string } | undefined => {
  if (reading.kind === 'failed') return undefined
  const postId = reading.kind === 'read' ? reading.post?.externalId : (reading.network.postIdIn(ref) ?? undefined)
  return postId === undefined ? undefined : { network: reading.network.name, postId }
}

const createFrom = (reading: PostReading, { ref, ...words }: Words & { ref: string }) => {
  const place = placeOf(reading, ref)
  return loading(
    () => ({ channel: channelPart('replies'), other: when(place !== undefined, engagementOn({ ...place!, action: words.action })) }),
    (_, context, known) => {
      if (reading.kind === 'failed') throw reading.error
      const { record, effects } = draftEngagement(context, { post: foundPost(reading, ref, words), ...known }, { ...words, signalId: null })
      return { reply: replyOf(record), effects, refId: record.id }
    },
  )
}

const confirmInReview = async (
  context: CommandContext,
  before: Engagement,
  seen: string | undefined,
): Promise<HandlerResult<ReturnType<typeof replyOf>>> => {
  const { sql, gate } = context
  return byHand(before, by(context, 'confirmed', confirmEngagement(before, gate.now, seen)), {
    ...{ underway: await loadNow(sql, underWay(refOf(before))), now: gate.now },
  })
}

const execute: Handlers<typeof engagements>['execute'] = {
  begin: loading(
    ({ id }) => ({
      before: engagementPart(id),
      account: accountOfRecord({ sendable: 'engagement', record_id: id }),
      existing: workFor('send', id),
    }),
    async (_, context, { before, account, existing }) => {
      const { gate, sql } = context
      const engagement = by(context, 'execution_requested', requestExecution(the(before), gate.now))
      if (account?.network !== engagement.network) throw await notConnected(sql, { about: { moves, record: engagement } })
      requireAllowed(networkOf(context, engagement).preflight(engagement.action, othersPost(engagement)))
      const { feature, cap } = engagements.execute
      requireFeature(gate.plan, feature)
      const spend = [takeCap(gate, cap)]
      const effects = enqueueSend('engagement', { record: engagement, runAt: gate.now, origin: 'manual', existing })
      return { awaits: engagement.id, effects: { ...effects, spend, writes: engagementSaved(engagement, engagement) } }
    },
  ),
  async currentAnswer({ id }, { read }) {
    const engagement = the((await read(engagementById(id)))[0])
    return { status: engagement.status === 'executed' ? 200 : 202, body: engagementAnswer(engagement) }
  },
}

export const engagementHandlers = (world: Pick<World, 'ask' | 'networks'>): Handlers<typeof engagements> => ({
  async list({ status, action, signal_id, ...input }, { read }) {
    const page = pageOf(input)
    const statuses = status === undefined ? undefined : wordsIn<EngagementStatus>(status)
    const wanted = { ...page, ...periodOf(input), statuses, action, signalId: signal_id }
    const { rows, next_cursor } = pageResult(await read(listEngagements(wanted)), page.limit)
    return { engagements: rows.map(engagementView), next_cursor }
  },
  ...engagementReadingHandlers,

  create: {
    async prepare({ post: ref, action, instruction, body }, { tenantId }) {
      const reading = await readPostFor(world, tenantId, { post: ref, action })
      const words = { action, instruction: instruction?.trim() || null, body: body ?? null }
      return createFrom(reading, { ...words, ref })
    },
  },

  approve: loading(
    ({ id }) => ({ engagement: engagementPart(id), account: defaultPart, channel: channelPart('replies') }),
    async ({ body, expect_hash: seen }, context, { engagement, account, channel }) => {
      const before = the(engagement)
      if (isInReview(before) && body === undefined) return confirmInReview(context, before, seen)
      const rule = ruleOn(networkOf(context, before), channel)
      const accountExternalId = account?.network === before.network ? account.external_id : null
      const approval = { body, seen, accountExternalId, ...rule, by: authorOf(context), now: context.gate.now }
      return save(by(context, 'approved', approveEngagement(before, approval)), {}, before)
    },
  ),

  reject: loading(
    ({ id }) => ({ engagement: engagementPart(id), ...onItsWay(refOf({ id })), reading: workFor('reconcile', id) }),
    ({ id, reason }, context, { engagement, reading, ...way }) => {
      const before = the(engagement)
      const { now } = context.gate
      if (isInReview(before)) {
        const effects = endByHand({ ...way, reading }, { state: 'superseded', now })
        return save(by(context, 'rejected', rejectEngagement(before, reason, now)), merge(effects, { writes: [forgetPending(id)] }))
      }
      const back = takeBack(context, { moves, record: before, ...way, action: 'reject' })
      const draft = moves.isSending(before) ? reopenEngagement(back.record, now) : back.record
      const next = by(context, 'rejected', rejectEngagement(draft, reason, now))
      if (way.send) return saveBack(before, next, back)
      return save(next, { writes: [forgetPending(id)] })
    },
  ),

  execute,
  ...engagementLifeHandlers,
})
