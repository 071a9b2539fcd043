/** What a call does, in a sentence, what it is now, and who asked for it. */

import { spanText } from '../../parts/clock.tsx'
import { Exact, ExactWords } from '../../parts/exact-text.tsx'
import { When } from '../../parts/when.tsx'
import { type CallToDecide, callState, deciderName } from './state.ts'

const Decider = ({ call }: { call: CallToDecide }) => {
  const { decider, decided_at, decided_how, edited } = call
  if (!decider || decided_how === 'expiry' || decided_how === 'cancel') return null
  const did =
    decided_how === 'person'
      ? `${call.status === 'approved' ? 'Allowed' : 'Refused'}${edited ? ' with changes' : ''} by`
      : decided_how === 'moot'
        ? 'Made needless by'
        : 'By'
  return (
    <p className="soft">
      {did} <ExactWords text={deciderName(decider)} />
      {decided_at && (
        <>
          , <When at={decided_at} />
        </>
      )}
    </p>
  )
}

export const CallHead = ({ call, now }: { call: CallToDecide; now: number }) => {
  const { says, tone, isOpen } = callState(call, now)
  return (
    <header className="pane-title">
      <p>
        <span className={`state ${tone}`}>
          <Exact text={says} />
        </span>
        {isOpen && (
          <span className="soft"> Expires in {spanText(Date.parse(call.expires_at) - now)}</span>
        )}
      </p>
      <h2 dir="auto">
        <Exact text={call.summary} />
      </h2>
      <Decider call={call} />
      {call.reason && (
        <p className="soft" dir="auto">
          Reason: <ExactWords text={call.reason} />
        </p>
      )}
    </header>
  )
}

export const CallDetails = ({ call }: { call: CallToDecide }) => (
  <dl className="fact-list pane-part">
    <div>
      <dt>Asked by</dt>
      <dd>The agent, in a job</dd>
    </div>
    <div>
      <dt>Tool</dt>
      <dd className="mono">
        <Exact text={call.tool_name} />
      </dd>
    </div>
    <div>
      <dt>Asked</dt>
      <dd>
        <When at={call.created_at} />
      </dd>
    </div>
    <div>
      <dt>Expires</dt>
      <dd>
        <When at={call.expires_at} />
      </dd>
    </div>
  </dl>
)
