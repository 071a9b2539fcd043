/** The text of a reply or quote as it is edited: kept in this browser, and saved on leaving it. */
import { useState } from 'react'
import { withNewlines } from '#domain/growth/drafting/written-text'
import type { AnswerOf } from '../../api/operations.ts'
import { mayCall } from '../../api/operations.ts'
import { command, queryClient } from '../../api/queries.ts'
import { boot } from '../../boot.ts'
import { typedOf, useTypedKeeper } from '../../typed/use-typed.ts'

export type DraftedEngagement = AnswerOf<'growth.engagements.get'>['engagement']

export const useReplyText = (engagement: DraftedEngagement) => {
  const { id, revision } = engagement
  const body = engagement.body ?? ''
  const record = `engagement:${id}`
  /** The revision that the typed text began from. */
  const [base, setBase] = useState(revision)
  const [typed, setTyped] = useState(() => typedOf(record, revision))
  const keeper = useTypedKeeper(record, base)
  const isEdited = typed !== undefined && typed !== body
  if (!isEdited && revision !== base) setBase(revision)
  const forget = (): void => {
    keeper.drop()
    setTyped(undefined)
  }
  return {
    text: typed ?? body,
    isEdited,
    /** Somebody else wrote another text, which is the stored one, since this one was begun. */
    isStale: isEdited && revision !== base,
    /** What is typed goes over the text that somebody else wrote. */
    keepMine: () => setBase(revision),
    mayEdit: engagement.body !== null && mayCall(boot.session.role, 'growth.engagements.edit'),
    change(entered: string) {
      const next = withNewlines(entered)
      setTyped(next)
      if (next === body) keeper.drop()
      else keeper.keep(next)
    },
    forget,
    /** What is typed stays here if the server refuses it. */
    async save() {
      if (!isEdited || revision !== base) return
      await command('growth.engagements.edit', { id, body: typed, revision })
      forget()
      await queryClient.invalidateQueries({ queryKey: ['growth.engagements.get'] })
    },
  }
}

export type ReplyText = ReturnType<typeof useReplyText>
