/** Sending, discarding and settling a reply, and what the server says to that. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError, errorWords } from '../../api/errors.ts'
import { command } from '../../api/queries.ts'
import { notify } from '../../frame/notices.ts'
import type { Typing } from '../../typed/use-typing.ts'
import type { ReplyToDecide } from './state.ts'

interface Decided {
  typing: Typing
  next(): void
  /** Whether this tab is deciding: what it does is no news here. */
  own(deciding: boolean): void
}

const STALE = ['stale_text', 'stale_record']

export const useReplyDecision = (reply: ReplyToDecide, { typing, next, own }: Decided) => {
  const client = useQueryClient()
  const [busy, setBusy] = useState(false)
  /** The text that was on the screen when the server said that it has another one. */
  const [stale, setStale] = useState<string>()
  const { id, updatedAt, contentHash } = reply

  const decide = async (says: string, act: () => Promise<unknown>): Promise<void> => {
    if (busy) return
    setBusy(true)
    own(true)
    try {
      await act()
      typing.drop()
      notify({ says, about: reply.recipient })
      next()
    } catch (cause) {
      own(false)
      if (cause instanceof ApiError && STALE.includes(cause.reason ?? '')) setStale(reply.text)
      notify({ says: errorWords(cause), about: reply.recipient, tone: 'bad' })
    }
    setBusy(false)
    await client.invalidateQueries()
  }

  const settle = (outcome: 'arrived' | 'not_arrived', says: string) => () =>
    void decide(says, () => command('agent.channelReplies.settle', { id, outcome, updatedAt }))

  return {
    busy,
    stale,
    send: () =>
      void decide('Let go', () =>
        command('agent.channelReplies.send', {
          id,
          ...(contentHash !== null && { expect_hash: contentHash }),
          ...(typing.text !== undefined && typing.text !== reply.text && { text: typing.text }),
        }),
      ),
    discard: () => void decide('Discarded', () => command('agent.channelReplies.discard', { id })),
    arrived: settle('arrived', 'Settled: it arrived'),
    notArrived: settle('not_arrived', 'Settled: what did not arrive is sent again'),
  }
}
