import { engagements } from '#contract/growth/engagements'
import { wordsIn } from '#contract/shapes'
import { engagementSaved } from '#decisions/growth/engagement-writes'
import { notConnected } from '#decisions/growth/not-connected'
import { endByHand, enqueueSend, underWay } from '#decisions/growth/send-work'
import { onItsWay, takeBack } from '#decisions/growth/take-back'
import { requireFeature, takeCap } from '#domain/app/plan'
import {
  type Engagement,
  type EngagementStatus,
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
import type { Connection } from '#domain/growth/sending/connection'
import { engagement as moves } from '#domain/growth/sending/engagement'
import { othersPost } from '#port/network/others-post'
import { forgetPending } from '#store/engine/idempotency'
import { merge } from '#store/engine/letter'
import { loadNow, when } from '#store/engine/load'
import { type Work, workFor } from '#store/engine/work'
import { accountOfRecord } from '#store/growth/attempts'
import { defaultPart } from '#store/growth/connections'
import {
  engagementById,
  engagementPage,
  engagementPart,
  listEngagements,
} from '#store/growth/engagements'
import { channelPart } from '#store/growth/growth-channels'
import type {
  AwaitedResult,
  CommandContext,
  HandlerResult,
  Handlers,
  World,
} from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'
import { periodOf } from '../engine/time-input.ts'
import { engagementLifeHandlers } from './engagement-life.ts'
import { engagementReadingHandlers } from './engagement-reading.ts'
import { authorOf } from './shared/author.ts'
import { createFrom } from './shared/drafting-engagement.ts'
import {
  byHand,
  engagementRef,
  type engagementReply,
  requireEngagement,
  requireNetwork,
  ruleOn,
  saveEngagementReply,
  saveTakenBackEngagement,
  withEngagementDecision,
} from './shared/engagement.ts'
import { overtaking } from './shared/overtaking.ts'
import { readPostFor } from './shared/reading-post.ts'

type All = Handlers<Omit<typeof engagements, 'look'>>

const confirmInReview = async (
  context: CommandContext,
  before: Engagement,
  seen: string | undefined,
): Promise<HandlerResult<ReturnType<typeof engagementReply>>> => {
  const { sql, gate } = context
  return byHand(
    before,
    withEngagementDecision(context, 'confirmed', confirmEngagement(before, gate.now, seen)),
    {
      underway: await loadNow(sql, underWay(engagementRef(before))),
      now: gate.now,
    },
  )
}

interface Executing {
  before: Engagement
  /** Approved. */
  engagement: Engagement
  account: Pick<Connection, 'network'> | undefined
  existing: Work | undefined
}

/** Sends an approved engagement, if nothing forbids it. Throws before anything is changed. */
const beginExecution = async (
  context: CommandContext,
  { before, engagement: approved, account, existing }: Executing,
): Promise<AwaitedResult> => {
  const { gate, sql } = context
  const engagement = withEngagementDecision(
    context,
    'execution_requested',
    requestExecution(approved, gate.now),
  )
  if (account?.network !== engagement.network)
    throw await notConnected(sql, { about: { moves, record: engagement } })
  requireAllowed(
    requireNetwork(context, engagement).preflight(engagement.action, othersPost(engagement)),
  )
  const { feature, cap } = engagements.execute
  requireFeature(gate.plan, feature)
  const spend = [takeCap(gate, cap)]
  const effects = enqueueSend('engagement', {
    record: engagement,
    runAt: gate.now,
    origin: 'manual',
    existing,
  })
  return {
    awaits: engagement.id,
    effects: { ...effects, spend, writes: engagementSaved(before, engagement) },
  }
}

const currentAnswer: All['execute']['currentAnswer'] = async ({ id }, { read }) => {
  const engagement = requireEngagement((await read(engagementById(id)))[0])
  return {
    status: engagement.status === 'executed' ? 200 : 202,
    body: engagementAnswer(engagement),
  }
}

const execute: All['execute'] = {
  begin: loading(
    ({ id }) => ({
      engagement: engagementPart(id),
      account: accountOfRecord({ sendable: 'engagement', record_id: id }),
      existing: workFor('send', id),
    }),
    (_, context, { engagement, ...known }) => {
      const before = requireEngagement(engagement)
      return beginExecution(context, { ...known, before, engagement: before })
    },
  ),
  currentAnswer,
}

const list: All['list'] = async ({ status, action, signal_id, restored, ...input }, { read }) => {
  const page = pageOf(input)
  const statuses = status === undefined ? undefined : wordsIn<EngagementStatus>(status)
  const wanted = { ...page, ...periodOf(input), statuses, action, signalId: signal_id, restored }
  const { rows, next_cursor } = pageResult(
    engagementPage(await read(listEngagements(wanted))),
    page.limit,
  )
  return { engagements: rows.map(engagementView), next_cursor }
}

const approve: All['approve'] = {
  begin: loading(
    ({ id, execute: sends }) => ({
      engagement: engagementPart(id),
      account: defaultPart,
      channel: channelPart('replies'),
      existing: when(sends === true, workFor('send', id)),
    }),
    async (input, context, { engagement, account, channel, existing }) => {
      const { body, expect_hash: seen, execute: sends = false } = input
      const before = requireEngagement(engagement)
      if (isInReview(before) && body === undefined && !sends)
        return confirmInReview(context, before, seen)
      const rule = ruleOn(requireNetwork(context, before), channel)
      const accountExternalId = account?.network === before.network ? account.external_id : null
      const approval = { body, seen, accountExternalId, by: authorOf(context), ...rule }
      const approved = withEngagementDecision(
        context,
        'approved',
        approveEngagement(before, { ...approval, now: context.gate.now }),
      )
      if (!sends) return saveEngagementReply(approved, {}, before)
      const known = { before, engagement: approved, account, existing }
      return { ...(await beginExecution(context, known)), auditDetail: { execute: true } }
    },
  ),
  currentAnswer,
}

const reject: All['reject'] = loading(
  ({ id }) => ({
    engagement: engagementPart(id),
    ...onItsWay(engagementRef({ id })),
    reading: workFor('reconcile', id),
  }),
  ({ id, reason }, context, { engagement, reading, ...way }) => {
    const before = requireEngagement(engagement)
    const { now } = context.gate
    if (isInReview(before)) {
      const effects = endByHand({ ...way, reading }, { state: 'superseded', now })
      return saveEngagementReply(
        withEngagementDecision(context, 'rejected', rejectEngagement(before, reason, now)),
        merge(effects, { writes: [forgetPending(id)] }),
      )
    }
    const taken = {
      moves,
      record: before,
      ...way,
      action: 'reject',
      by: authorOf(context),
    } as const
    const back = takeBack(context, taken, (one) => {
      const draft = moves.isSending(before) ? reopenEngagement(one, now) : one
      return withEngagementDecision(context, 'rejected', rejectEngagement(draft, reason, now))
    })
    return way.send
      ? saveTakenBackEngagement(before, back)
      : saveEngagementReply(back.next, { writes: [forgetPending(id)] })
  },
)

export const engagementHandlers = (world: Pick<World, 'ask' | 'networks'>): All => ({
  list,
  ...engagementReadingHandlers,

  create: {
    async prepare({ post: ref, action, instruction, body }, { tenantId }) {
      const reading = await readPostFor(world, tenantId, { post: ref, action })
      const words = { action, instruction: instruction?.trim() || null, body: body ?? null }
      return createFrom(reading, { ...words, ref })
    },
  },

  ...overtaking('growth.engagements', { approve, reject, execute, ...engagementLifeHandlers }),
})
