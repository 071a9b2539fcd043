/** What the network does not let programs do: why, and how a person does it. */
import { notify } from '../../frame/notices.ts'
import { capitalised } from '../../parts/capitalised.ts'
import { ExactWords } from '../../parts/exact-text.tsx'
import { Icon } from '../../parts/icons.tsx'
import { outsideAddress, siteOf } from '../../parts/outside-link.tsx'
import { Unfold } from '../../parts/unfold.tsx'
import type { DraftedEngagement } from './use-reply-text.ts'

type Verdict = DraftedEngagement['actions'][number]

export const verdictOn = ({ action, actions }: DraftedEngagement): Verdict | undefined =>
  actions.find((one) => one.action === action)

/** A sentence: why it cannot be sent from here; undefined if it can. */
export const refusalIn = (verdict: Verdict | undefined): string | undefined =>
  verdict === undefined || verdict.allowed
    ? undefined
    : `${capitalised(verdict.message ?? verdict.reason ?? 'The network does not allow it')}.`

const OpenThere = ({ url }: { url: string | null }) => {
  const address = outsideAddress(url)
  if (address === undefined) return null
  return (
    <a className="action plain" href={address} target="_blank" rel="noreferrer noopener">
      Open on {siteOf(address)} <Icon name="outside" />
    </a>
  )
}

/** Plain http in a LAN has no clipboard for scripts. */
const CopyText = ({ text }: { text: string }) =>
  navigator.clipboard === undefined || text === '' ? null : (
    <button
      type="button"
      className="action plain"
      onClick={() =>
        void navigator.clipboard.writeText(text).then(
          () => notify({ says: 'Copied the text' }),
          () => notify({ says: 'It could not be copied: select the text', tone: 'care' }),
        )
      }
    >
      Copy the text
    </button>
  )

interface ByHandProps {
  engagement: DraftedEngagement
  verdict: Verdict | undefined
  text: string
}

export const ByHand = ({ engagement, verdict, text }: ByHandProps) => {
  const refusal = refusalIn(verdict)
  if (refusal === undefined) return null
  return (
    <section className="in-doubt by-hand" aria-label="By hand">
      <p>
        <strong>This cannot be sent from here.</strong> <ExactWords text={refusal} />
      </p>
      <p className="by-hand-ways">
        <CopyText text={text} />
        <OpenThere url={verdict?.link ?? engagement.post.url} />
      </p>
    </section>
  )
}

/** What else could be done with the post. */
export const PossibleActions = ({ actions }: Pick<DraftedEngagement, 'actions'>) => (
  <Unfold className="unfold" summary="What the network allows">
    {() => (
      <ul className="possible-actions">
        {actions.map((verdict) => (
          <li key={verdict.action} className={verdict.allowed ? undefined : 'soft'}>
            <strong>{capitalised(verdict.action)}</strong>
            <span>{refusalIn(verdict) ?? 'Can be sent from here.'}</span>
          </li>
        ))}
      </ul>
    )}
  </Unfold>
)
