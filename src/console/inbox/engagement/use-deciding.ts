/** What can be decided about an engagement. */
import { ApiError } from '../../api/errors.ts'
import type { AnswerOf } from '../../api/operations.ts'
import { command } from '../../api/queries.ts'
import { notify } from '../../frame/notices.ts'
import { hrefOf } from '../../router/paths.ts'
import { navigate } from '../../router/router.tsx'
import { enact, type ListDecision } from '../decide.ts'
import { sentWords } from '../sent-words.ts'
import type { DraftedEngagement, ReplyText } from './use-reply-text.ts'

type Answer = AnswerOf<'growth.engagements.approve'>

/** Somebody wrote another text meanwhile: nothing was decided, and what was typed is kept. */
const onRefusal = (id: string) => (cause: unknown) => {
  if (!(cause instanceof ApiError) || cause.reason !== 'stale_text') return false
  notify({
    who: cause.refusal.by?.name ?? 'Somebody',
    says: 'changed the text meanwhile. Nothing was approved.',
    tone: 'care',
  })
  navigate(hrefOf('entry', { kind: 'engagement', id }))
  return true
}

/**
 * The approval of the text on the screen. A save that is under way is waited for; what is not saved
 * goes with it.
 */
const approval = async (
  engagement: DraftedEngagement,
  text: ReplyText,
  sending: { execute: true; wait: number } | undefined,
): Promise<Answer> => {
  const { id, content_hash: hash, body } = await text.newest(engagement)
  return command('growth.engagements.approve', {
    id,
    ...(hash !== null && { expect_hash: hash }),
    ...(text.isEdited && text.text !== body && { body: text.text }),
    ...sending,
  })
}

export const useDeciding = (engagement: DraftedEngagement, text: ReplyText, next: () => void) => {
  const { id } = engagement
  const begin = <A>(decision: Omit<ListDecision<A>, 'id' | 'about'>): void => {
    next()
    void enact({ ...decision, id, about: text.text.split('\n', 1)[0] || engagement.action })
  }
  const reopen = () => command('growth.engagements.reopen', { id })
  const approve = async (sending?: { execute: true; wait: number }) => {
    const answer = await approval(engagement, text, sending)
    text.forget()
    return answer
  }
  return {
    approve: () =>
      begin({
        says: 'Approved; it is sent when somebody sends it',
        act: () => approve(),
        undo: reopen,
        refused: onRefusal(id),
      }),
    /** One step: if it cannot be sent, it is not approved either. */
    send: () =>
      begin({
        says: 'Handed to the network',
        act: () => approve({ execute: true, wait: 1 }),
        check: (answer: Answer) => sentWords[answer.engagement.status],
        refused: onRefusal(id),
      }),
    /** A text that is typed was not sent from here, and does not go with it. */
    didIt: (url: string | undefined) =>
      begin({
        says: 'Done by hand',
        act: () => command('growth.engagements.done', { id, ...(url !== undefined && { url }) }),
      }),
    reject: (reason: string | undefined) =>
      begin({
        says: 'Rejected',
        act: () => command('growth.engagements.reject', { id, ...(reason && { reason }) }),
        undo: reopen,
      }),
  }
}

export type EngagementDecisions = ReturnType<typeof useDeciding>
