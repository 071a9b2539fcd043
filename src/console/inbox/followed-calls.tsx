/** Above the list: what became of the calls that were allowed here. */
import { useEffect } from 'react'
import { useRead } from '../api/queries.ts'
import { notify } from '../frame/notices.ts'
import { Exact } from '../parts/exact-text.tsx'
import { Icon } from '../parts/icons.tsx'
import { useStore } from '../parts/store.ts'
import { hrefOf } from '../router/paths.ts'
import { PlaceLink } from '../router/router.tsx'
import { briefly, type CallToDecide, callState } from './call/state.ts'
import { type FollowedCall, followedCalls, unfollowCall } from './followed.ts'

/** Hints are faster; this is for when none arrive. */
const LOOK_MS = 2_000
const GONE_AFTER_MS = 12_000

export const lookAgain = (answer: { approval: CallToDecide } | undefined): number | false =>
  answer?.approval.outcome === 'running' && LOOK_MS

/** Calls of which the outcome has been said: not again when the inbox is opened anew. */
const said = new Set<string>()

/** Says once what became of it; what went well leaves by itself. */
const useOutcome = (call: CallToDecide | undefined): void => {
  const outcome = call?.outcome
  useEffect(() => {
    if (!call || outcome === 'running' || said.has(call.id)) return
    said.add(call.id)
    const { says, tone } = callState(call, Date.now())
    notify({
      says,
      about: briefly(call),
      tone: tone === 'bad' ? 'bad' : tone === 'care' ? 'care' : 'plain',
    })
    if (tone === 'good') setTimeout(() => unfollowCall(call.id), GONE_AFTER_MS)
  }, [call, outcome])
}

const FollowedRow = ({ id, summary }: FollowedCall) => {
  const read = useRead('agent.approvals.get', { id }, { again: lookAgain })
  const call = read.data?.approval
  useOutcome(call?.status === 'approved' ? call : undefined)
  const state = call && callState(call, Date.now())
  return (
    <li className="followed">
      <PlaceLink href={hrefOf('entry', { kind: 'call', id })}>
        <span className={`state ${state?.tone ?? 'runs'}`}>
          <Exact text={state?.says ?? 'Allowed, running…'} />
        </span>
        <span className="row-title" dir="auto">
          <Exact text={summary} />
        </span>
      </PlaceLink>
      <button
        type="button"
        className="icon-button"
        aria-label="Do not show what became of it"
        onClick={() => unfollowCall(id)}
      >
        <Icon name="close" />
      </button>
    </li>
  )
}

export const FollowedCalls = () => {
  const calls = useStore(followedCalls)
  if (calls.length === 0) return null
  return (
    <ul className="followed-list" aria-label="Calls that you have allowed">
      {calls.map((call) => (
        <FollowedRow key={call.id} {...call} />
      ))}
    </ul>
  )
}
