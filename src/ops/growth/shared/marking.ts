/** What posts of an account are marked with. */
import type { KeptMarks } from '#contract/records/growth/marks'
import { contentMark } from '#domain/growth/drafting/content-mark'
import { approvedMarks, type Marking, marksFor, marksIn } from '#domain/growth/drafting/marks'
import type { Connection } from '#domain/growth/sending/connection'
import { type Networks, networkFor } from '#port/network/registry'
import type { StoredProfile } from '#store/growth/profiles'

interface Writer {
  account: Connection | undefined
  profile: StoredProfile
}

/** Undefined if nothing is marked. A profile that nobody has saved says nothing of the language. */
export const markingBy = (
  networks: Networks,
  { account, profile: { profile, revision } }: Writer,
): Omit<Marking, 'found'> | undefined =>
  account && networkFor(networks, account).marks
    ? { account: account.id, language: revision > 0 ? profile.language : null }
    : undefined

/** What approving a text would bind beside it, and the hash of both. */
export const markedText = (
  networks: Networks,
  { body, kept, ...writer }: Writer & { body: string; kept: KeptMarks | null },
) => {
  const marking = markingBy(networks, writer)
  const found = marking ? marksFor(kept, { body, account: marking.account }) : null
  return {
    marks: marking ? marksIn(approvedMarks(body, body, { ...marking, found })) : null,
    content_hash: contentMark(body, found),
  }
}
