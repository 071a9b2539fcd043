/** What stands on the account since the backup or copy, read when a person asks for it. */
import { useState } from 'react'
import { mayCall } from '../../api/operations.ts'
import { useCommand } from '../../api/use-command.ts'
import { boot } from '../../boot.ts'
import { ActionButton } from '../../parts/action.tsx'
import { outsideAddress } from '../../parts/outside-link.tsx'
import { Failed } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { marksAsSent } from '../it-is-there.tsx'
import { ShownPosts } from '../shown-posts.tsx'
import { type AccountSeen, type PerhapsSent, seenWords } from './perhaps-sent.ts'

const looks = { item: 'growth.items.look', engagement: 'growth.engagements.look' } as const

interface LookProps {
  it: PerhapsSent
  /** Takes a post for this one; its address, or nothing if the network gives none. */
  pick(url: string): void
}

const Seen = ({ look, it, pick }: LookProps & { look: AccountSeen }) => {
  const picks = mayCall(boot.session.role, marksAsSent[it.record])
  return (
    <>
      <p className="soft" role="status">
        Read <When at={look.read_at} />. {seenWords(look)}
      </p>
      <ShownPosts
        posts={look.posts}
        isCandidate={(post) => post.is_candidate}
        picking={(post) => (picks ? () => pick(outsideAddress(post.url) ?? '') : undefined)}
      />
    </>
  )
}

export const AccountLook = ({ it, pick }: LookProps) => {
  const looking = useCommand(looks[it.record])
  const [seen, setSeen] = useState<AccountSeen>()
  const look = async (): Promise<void> => {
    const answer = await looking.run({ id: it.id })
    if (answer) setSeen(answer.look)
  }
  return (
    <section className="account-look" aria-label="What stands on the account">
      <ActionButton calls={looks[it.record]} busy={looking.isRunning} act={() => void look()}>
        {looking.isRunning ? 'Looking…' : seen ? 'Look again' : 'Look at the account'}
      </ActionButton>
      {looking.cause !== undefined && (
        <Failed cause={looking.cause} what="The account was not read." />
      )}
      {seen && <Seen look={seen} it={it} pick={pick} />}
    </section>
  )
}
