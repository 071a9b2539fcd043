/** Whether a call of a tool is carried out, asked of a person, or refused. Pure. */
import type { ruleDecisions } from '#contract/records/agent/tool-rule'
import { textsIn } from '#kernel/json-value'
import { codePointOf, firstUnseen } from '#kernel/unseen'
import { isChannelTaint } from '../channel/trust.ts'
import { isReading, type ToolClass } from './step.ts'

export type RuleDecision = (typeof ruleDecisions)[number]

export interface CallFacts {
  class: ToolClass
  /** Whether the job was offered the tool. */
  offered: boolean
  /** Whether the caller's scopes and role, as they are now, allow it. */
  mayRun: boolean
  /** Where untrusted text that the job has read came from. */
  taint: readonly string[]
  /** A person's rule for the tool. */
  rule: RuleDecision | undefined
  /** Why a person is asked of this very call: an address that is not on the list. */
  asks?: readonly string[]
  /** It is not known whether an equal call of the job has happened. */
  isRepeat?: boolean
  /** A run of a schedule calls what would make further runs. */
  makesRuns?: boolean
  /** Of class commit: what the call does. Default: publishes. */
  commits?: string
  /** The call is the caller's own act: the exact command typed by a person. */
  own?: boolean
}

interface Flaw {
  /** The place in the arguments, such as `items.0.body`. */
  path: string
  message: string
}

const OUTSIDERS = 'this job has read text from people outside'
/** Of arguments that a person gives for somebody who may do more. */
export const LESSER = 'the call is for somebody who may do more than you'

/**
 * What nobody would see of the arguments of a job that has read untrusted text: no person could
 * judge them.
 */
export const unseenArgument = (
  args: unknown,
  { taint }: { taint: readonly string[] },
): Flaw | undefined => (taint.length === 0 ? undefined : unseenIn(args, OUTSIDERS))

/** The first of it, and why it is refused. Characters count from one. */
export const unseenIn = (args: unknown, why: string): Flaw | undefined => {
  for (const { path, text } of textsIn(args)) {
    const found = firstUnseen(text)
    if (!found) continue
    const place = `${codePointOf(found.character)} at character ${[...text.slice(0, found.at)].length + 1}`
    return {
      path: path.join('.'),
      message: `has ${place}, which nobody would see; ${why}, so leave it out`,
    }
  }
  return undefined
}

/** Rules by the names of their tools. */
export const decisionsOf = (
  rules: readonly { tool_name: string; decision: RuleDecision }[],
): ReadonlyMap<string, RuleDecision> =>
  new Map(rules.map(({ tool_name, decision }) => [tool_name, decision]))

export type Verdict =
  | { decision: 'allow' }
  | { decision: 'ask'; why: string[] }
  | { decision: 'deny'; reason: string }

const ask = (...why: string[]): Verdict => ({ decision: 'ask', why })
const deny = (reason: string): Verdict => ({ decision: 'deny', reason })
const FORGEABLE = 'anybody could have written the message'
const allow: Verdict = { decision: 'allow' }

const untrusted = (taint: readonly string[]): string[] =>
  taint.map((source) => `untrusted: ${source}`)

/**
 * What publishes or approves is always asked, unless a person typed it; no rule changes that. An
 * address outside of the list is asked even of who typed it. What drafts is asked once the job has
 * read untrusted text. The kill switch is open to whoever may use it; only a message whose sender
 * can be forged does not pull it by itself, or anybody could stop the workspace in a member's name.
 */
export const verdictOf = ({
  class: of,
  offered,
  mayRun,
  taint,
  rule,
  isRepeat = false,
  makesRuns = false,
  own = false,
  asks = [],
  commits = 'publishes',
}: CallFacts): Verdict => {
  if (!offered) return deny('this job was not given the tool')
  if (makesRuns) return deny('a scheduled run can create neither schedules nor webhook rules')
  if (rule === 'deny') return deny('a rule of this workspace forbids the tool')
  if (of === 'safe') {
    if (!mayRun) return deny('the caller may not do this')
    return !own && taint.some(isChannelTaint) ? ask(FORGEABLE, ...untrusted(taint)) : allow
  }
  if (of === 'read' || of === 'outside_read') {
    if (!mayRun) return deny('the caller may not read this')
    const why = [...asks, ...(of === 'outside_read' && rule === 'ask' && !own ? ['your rule'] : [])]
    return why.length > 0 ? ask(...why, ...untrusted(taint)) : allow
  }
  if (!mayRun) return own ? deny('your role may not do this') : ask('role', ...untrusted(taint))
  if (own) return allow
  if (of === 'commit') return ask(commits, ...untrusted(taint))
  if (rule === 'ask') return ask('your rule', ...untrusted(taint))
  if (isRepeat) return ask('an equal call may have happened already', ...untrusted(taint))
  if (of === 'outside_write')
    return rule === 'allow' && taint.length === 0
      ? allow
      : ask('leaves the workspace', ...untrusted(taint))
  return taint.length > 0 ? ask(...untrusted(taint)) : allow
}

type DirectFacts = Omit<CallFacts, 'offered' | 'taint' | 'isRepeat' | 'own'> & {
  /** A signed-in person calls, not a program with a key. */
  isPerson: boolean
  /** Viewers only read. */
  readsOnly: boolean
}

/**
 * A call that nobody's words led to. What a person may do is not asked again. For a program a
 * commit is what a draft is: its key was given for this.
 */
export const directVerdict = ({ isPerson, readsOnly, ...facts }: DirectFacts): Verdict => {
  if (readsOnly && !isReading(facts)) return deny('the role viewer only reads')
  const of = facts.class === 'commit' ? 'draft' : facts.class
  return verdictOf({ ...facts, class: of, offered: true, taint: [], own: isPerson && facts.mayRun })
}
