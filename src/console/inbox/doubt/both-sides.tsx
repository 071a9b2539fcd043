/** What was sent, beside what the timeline showed when it was read. */
import { outsideAddress } from '../../parts/outside-link.tsx'
import { When } from '../../parts/when.tsx'
import { SentText } from '../sent-text.tsx'
import { ShownPosts } from '../shown-posts.tsx'
import { causeWords, type Doubtful, lastSeen } from './doubtful.ts'

const Sent = ({ doubtful: { text, about, hash, attempt } }: { doubtful: Doubtful }) => (
  <div>
    <h3>What we sent</h3>
    <SentText text={text ?? about} hash={hash}>
      {attempt && (
        <span>
          <bdi>@{attempt.account.handle}</bdi> on {attempt.account.network},{' '}
          <When at={attempt.began_at} />
        </span>
      )}
    </SentText>
  </div>
)

const sawWords: Record<NonNullable<ReturnType<typeof lastSeen>['saw']>, string> = {
  it: 'It was there.',
  nothing: 'It was not there.',
  unclear: 'A post was there that may be this one.',
  unreadable: 'The timeline could not be read as a whole, which proves nothing.',
}

interface SidesProps {
  doubtful: Doubtful
  /** Takes the address of a post for that of this one. */
  pick(url: string): void
  /** Whether the reader may. */
  picks: boolean
}

export const BothSides = ({ doubtful, pick, picks }: SidesProps) => {
  const { at, saw, timeline, candidates } = lastSeen(doubtful)
  return (
    <div className="both-texts">
      <Sent doubtful={doubtful} />
      <div>
        <h3>What the timeline showed</h3>
        {at && saw ? (
          <p className="soft">
            Read <When at={at} />. {sawWords[saw]}
          </p>
        ) : (
          <p className="soft">It has not been read yet.</p>
        )}
        {timeline?.length === 0 && <p className="soft">No post since the send began.</p>}
        <ShownPosts
          posts={timeline}
          isCandidate={({ external_id }) => candidates.has(external_id)}
          picking={({ url }) => {
            const link = outsideAddress(url)
            return picks && link !== undefined ? () => pick(link) : undefined
          }}
        />
      </div>
    </div>
  )
}

/** While the machine looks: what happened, and what it does about it. */
export const Looking = ({ doubtful: { attempt } }: { doubtful: Doubtful }) => (
  <div className="in-doubt">
    {attempt && (
      <p>
        Sent <When at={attempt.began_at} />. {attempt.cause && causeWords[attempt.cause]}
      </p>
    )}
    <p>
      <strong>We look at your timeline, and never send it again by ourselves.</strong>{' '}
      {attempt?.next_read_at ? (
        <>
          Next look <When at={attempt.next_read_at} clock />.
        </>
      ) : (
        'No look is planned.'
      )}
    </p>
  </div>
)
