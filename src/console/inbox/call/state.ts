/** What a call of the agent is, in the words of the inbox. */
import type { AnswerOf } from '../../api/operations.ts'
import type { Toast } from '../../frame/notices.ts'
import { capitalised } from '../../parts/capitalised.ts'

export type CallToDecide = AnswerOf<'agent.approvals.get'>['approval']

export interface CallState {
  says: string
  tone: 'asks' | 'runs' | 'good' | 'bad' | 'care' | 'over'
  /** Whether somebody can decide it. */
  isOpen?: true
}

const overtaken = (says: string): CallState => ({ says: `Overtaken: ${says}`, tone: 'over' })

const ofAllowed = ({ outcome, error }: CallToDecide): CallState => {
  switch (outcome) {
    case 'running':
      return { says: 'Allowed, running…', tone: 'runs' }
    case 'done':
      return { says: 'Done', tone: 'good' }
    case 'failed':
      return { says: `Failed: ${error ?? 'no reason is known'}`, tone: 'bad' }
    case 'unknown':
      return { says: 'Nobody knows yet whether it happened. It is not repeated', tone: 'care' }
    case 'stale':
      return overtaken('what it is about changed first, so it did not happen')
    case 'moot':
      return overtaken('somebody made it needless')
    case null:
      return { says: 'Allowed', tone: 'good' }
  }
}

const ofRefused = ({ decided_how }: CallToDecide): CallState => {
  switch (decided_how) {
    case 'expiry':
      return { says: 'Nobody decided in time, so it does not happen', tone: 'over' }
    case 'cancel':
      return { says: 'The job of the agent ended first', tone: 'over' }
    case 'stale':
      return overtaken('what it is about changed after it was shown')
    case 'moot':
      return overtaken('it was no longer needed; the agent is told so')
    default:
      return { says: 'Refused', tone: 'over' }
  }
}

/** `now`: in milliseconds. */
export const callState = (call: CallToDecide, now: number): CallState => {
  if (call.status === 'approved') return ofAllowed(call)
  if (call.status === 'rejected') return ofRefused(call)
  return Date.parse(call.expires_at) > now
    ? { says: 'Asks', tone: 'asks', isOpen: true }
    : { says: 'Nobody decided in time, so it does not happen', tone: 'over' }
}

type Decider = NonNullable<CallToDecide['decider']>

const KINDS: Record<Decider['kind'], string> = {
  person: 'somebody',
  key: 'a program with a key',
  agent: 'another job of the agent',
  system: 'the server',
}

/** Who decided, or made it needless. */
export const deciderName = ({ kind, name }: Pick<Decider, 'kind' | 'name'>): string =>
  name ?? KINDS[kind]

/** What somebody has just done with it: `Lena allowed this just now`. */
export const callNews = (call: CallToDecide): Pick<Toast, 'who' | 'says'> => {
  const who = capitalised(call.decider ? deciderName(call.decider) : 'somebody')
  if (call.decided_how === 'moot') return { who, says: 'made this needless just now' }
  if (call.decided_how === 'person')
    return { who, says: `${call.status === 'approved' ? 'allowed' : 'refused'} this just now` }
  return { says: callState(call, Date.now()).says }
}

/** Characters of a summary that a notice has room for. */
const NOTICED = 90

export const briefly = ({ summary }: Pick<CallToDecide, 'summary'>): string =>
  summary.length > NOTICED ? `${summary.slice(0, NOTICED).trimEnd()}…` : summary
