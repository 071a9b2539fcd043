import { engagements } from '#contract/growth/engagements'
import { admitEngagement } from '#decisions/growth/admission'
import { endByHand, enqueueSend, underWay } from '#decisions/growth/send-work'
import { requireFeature, takeCap } from '#domain/app/plan'
import {
  approveEngagement,
  confirmEngagement,
  type EngagedPost,
  type Engagement,
  type EngagementRequest,
  engagementAnswer,
  engagementView,
  isWritten,
  rejectEngagement,
  requestExecution,
  requireAllowed,
} from '#domain/growth/drafting/engagement'
import type { GrowthChannel } from '#domain/growth/drafting/growth-channel'
import { fail, found } from '#kernel/errors'
import type { Network } from '#port/network/network'
import { othersPost } from '#port/network/others-post'
import { forgetPending, resolvePending } from '#store/engine/idempotency'
import { type Effects, merge } from '#store/engine/letter'
import { loadNow, when } from '#store/engine/load'
import { workFor } from '#store/engine/work'
import { accountOfRecord } from '#store/growth/attempts'
import { defaultPart } from '#store/growth/connections'
import { engagementById, engagementOn, engagementPart, listEngagements, saveEngagement } from '#store/growth/engagements'
import { channelPart } from '#store/growth/growth-channels'
import type { CommandContext, HandlerResult, Handlers, World } from '../call.ts'
import { loading } from '../loading.ts'
import { pageOf, pageResult } from '../paging.ts'
import { type PostReading, postIdOf, readPostFor, storedPost } from '../reading-post.ts'

const the = (engagement: Engagement | undefined): Engagement => found(engagement, 'no such engagement')

const replyOf = (engagement: Engagement) => ({ engagement: engagementView(engagement) })
const save = (engagement: Engagement, effects: Effects = {}) => ({
  reply: replyOf(engagement),
  effects: { ...effects, writes: [saveEngagement(engagement), ...(effects.writes ?? [])] },
})

const unreadPost = (network: Network, ref: string): EngagedPost => ({
  ...{ network: network.name, post_id: postIdOf(network, ref), post_url: null, post_author: null, post_text: null, addresses_us: false },
})

type Words = Pick<EngagementRequest, 'action' | 'instruction' | 'body'>

/** The post of the engagement. Without an account to read it, the engagement needs a body. Throws `not_found` or `conflict`. */
const foundPost = (reading: Exclude<PostReading, { kind: 'failed' }>, ref: string, { action, body }: Words): EngagedPost => {
  if (reading.kind === 'read')
    return reading.post ? storedPost(reading.network, reading.post) : fail('not_found', 'the network has no such post')
  if (isWritten(action) && body === null)
    fail('conflict', `drafting needs a connected account to read the post; connect an account, or pass the body of the ${action}`)
  return unreadPost(reading.network, ref)
}

const networkOf = ({ networks }: Pick<CommandContext, 'networks'>, { network }: EngagedPost): Network =>
  networks.named(network) ?? fail('conflict', `the network ${network} is no longer supported`)

/** The format rules: the network's, and those of the channel for replies. */
const ruleOn = ({ limits: { measure, maxLength } }: Network, channel: GrowthChannel | undefined) => ({ measure, maxLength, channel })

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
  return admitEngagement({ gate: context.gate, origin: 'manual' }, { request, rule: ruleOn(network, channel), preflight, other })
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

const refOf = ({ id }: Engagement) => ({ sendable: 'engagement', record_id: id }) as const

const inReview = ({ status, review }: Engagement): boolean => status === 'execute_unconfirmed' && review

const confirmInReview = async (
  { sql, gate: { now } }: CommandContext,
  before: Engagement,
): Promise<HandlerResult<ReturnType<typeof replyOf>>> => {
  const engagement = confirmEngagement(before, now)
  const body = engagementAnswer(engagement)
  const ended = endByHand(await loadNow(sql, underWay(refOf(before))), { state: 'posted', now })
  const effects = merge(ended, { writes: [resolvePending(engagement.id, 200, body)] })
  return { ...save(engagement, effects), answers: [{ refId: engagement.id, with: { status: 200, body } }] }
}

const execute: Handlers<typeof engagements>['execute'] = {
  begin: loading(
    ({ id }) => ({
      before: engagementPart(id),
      account: accountOfRecord({ sendable: 'engagement', record_id: id }),
      existing: workFor('send', id),
    }),
    (_, context, { before, account, existing }) => {
      const { gate } = context
      const engagement = requestExecution(the(before), gate.now)
      if (account?.network !== engagement.network) fail('x_not_connected')
      requireAllowed(networkOf(context, engagement).preflight(engagement.action, othersPost(engagement)))
      const { feature, cap } = engagements.execute
      requireFeature(gate.plan, feature)
      const spend = [takeCap(gate, cap)]
      const effects = enqueueSend('engagement', { record: engagement, runAt: gate.now, origin: 'manual', existing })
      return { awaits: engagement.id, effects: { ...effects, spend, writes: [saveEngagement(engagement)] } }
    },
  ),
  async currentAnswer({ id }, { read }) {
    const engagement = the((await read(engagementById(id)))[0])
    return { status: engagement.status === 'executed' ? 200 : 202, body: engagementAnswer(engagement) }
  },
}

export const engagementHandlers = (world: Pick<World, 'ask' | 'networks'>): Handlers<typeof engagements> => ({
  async list({ status, ...input }, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(await read(listEngagements({ ...page, status })), page.limit)
    return { engagements: rows.map(engagementView), next_cursor }
  },

  create: {
    async prepare({ post: ref, action, instruction, body }, { tenantId }) {
      const reading = await readPostFor(world, tenantId, { post: ref, action })
      const words = { action, instruction: instruction?.trim() || null, body: body ?? null }
      return createFrom(reading, { ...words, ref })
    },
  },

  approve: loading(
    ({ id }) => ({ engagement: engagementPart(id), account: defaultPart, channel: channelPart('replies') }),
    async ({ body }, context, { engagement, account, channel }) => {
      const before = the(engagement)
      if (inReview(before) && body === undefined) return confirmInReview(context, before)
      const rule = ruleOn(networkOf(context, before), channel)
      const accountExternalId = account?.network === before.network ? account.external_id : null
      return save(approveEngagement(before, { body, accountExternalId, ...rule, now: context.gate.now }))
    },
  ),

  reject: loading(
    ({ id }) => ({ engagement: engagementPart(id) }),
    async ({ id, reason }, { sql, gate: { now } }, { engagement }) => {
      const before = the(engagement)
      const rejected = rejectEngagement(before, reason, now)
      const effects = inReview(before) ? endByHand(await loadNow(sql, underWay(refOf(before))), { state: 'superseded', now }) : {}
      return save(rejected, merge(effects, { writes: [forgetPending(id)] }))
    },
  ),

  execute,
})
