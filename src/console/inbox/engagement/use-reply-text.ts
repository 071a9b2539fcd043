/** The text of a reply or quote as it is edited: kept in this browser, and saved. */
import { ApiError } from '../../api/errors.ts'
import type { AnswerOf } from '../../api/operations.ts'
import { mayCall } from '../../api/operations.ts'
import { command, queryClient, readKey } from '../../api/queries.ts'
import { boot } from '../../boot.ts'
import { useSaving } from '../../typed/use-saving.ts'
import { useTypedOver } from '../../typed/use-typed-over.ts'

export type DraftedEngagement = AnswerOf<'growth.engagements.get'>['engagement']

const store = async (
  engagement: DraftedEngagement,
  body: string,
  revision: number,
): Promise<DraftedEngagement> => {
  const { id } = engagement
  const queryKey = readKey('growth.engagements.get', { id })
  try {
    const answer = await command('growth.engagements.edit', { id, body, revision })
    const now = { ...engagement, ...answer.engagement }
    queryClient.setQueryData(queryKey, { engagement: now })
    return now
  } catch (cause) {
    if (cause instanceof ApiError && cause.status === 409)
      await queryClient.invalidateQueries({ queryKey })
    throw cause
  }
}

export const useReplyText = (engagement: DraftedEngagement) => {
  const edited = useTypedOver(`engagement:${engagement.id}`, engagement)
  const saving = useSaving(edited, (text, base) => store(engagement, text, base))
  return {
    ...edited,
    ...saving,
    mayEdit:
      engagement.body !== null &&
      engagement.status === 'drafted' &&
      mayCall(boot.session.role, 'growth.engagements.edit'),
  }
}

export type ReplyText = ReturnType<typeof useReplyText>
