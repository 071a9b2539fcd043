/** What the server knows of the connected channels and their linked senders. */
import type { AnswerOf } from '../../api/operations.ts'
import { useReadPages } from '../../api/read-pages.ts'

export type ConnectedChannel = AnswerOf<'agent.channels.list'>['connections'][number]
export type SenderLink = AnswerOf<'agent.channelIdentities.list'>['identities'][number]

export const LINKS = 'agent.channelIdentities.list'

const LOOK_MS = 3_000

/** `awaited`: a code has been shown that may link somebody any moment. */
export const useLinks = (connectionId: string, { awaited = false } = {}) =>
  useReadPages(
    LINKS,
    { id: connectionId, limit: 10 },
    { again: (read) => (awaited ? LOOK_MS * Math.max(1, read.length) : false) },
  )
