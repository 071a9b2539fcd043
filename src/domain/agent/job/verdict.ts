/** Decides whether a tool call is carried out, asked of a person, or refused. Pure. */
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
  /** Whether the caller's present scopes and role allow it. */
  mayRun: boolean
  /** The sources of untrusted text that the job has read. */
  taint: readonly string[]
  /** A person's rule for the tool. */
  rule: RuleDecision | undefined
  /** Why a person is asked about this particular call: an address that is not on the list. */
  asks?: readonly string[]
  /** Whether an equal call of the job may already have happened. */
  isRepeat?: boolean
  /** Whether a run of a schedule calls what would create more runs. */
  makesRuns?: boolean
  /** For class commit: what the call does. Default: publishes. */
  commits?: string
  /** Whether the call is the caller's own act: exactly the command that a person typed. */
  own?: boolean
}

interface Flaw {
  /** The place in the arguments, such as `items.0.body`. */
  path: string
  message: string
}

const OUTSIDERS = 'this job has read text from people outside'
/** For arguments from a person who decides for somebody with more rights. */
export const LESSER = 'the call is for somebody who may do more than you'

/**
 * What nobody would see in the arguments of a job that has read untrusted text: no person could
 * judge such a call.
 */
export const unseenArgument = (
  args: unknown,
  { taint }: { taint: readonly string[] },
): Flaw | undefined => (taint.length === 0 ? undefined : unseenIn(args, OUTSIDERS))

/** The first invisible character, and why it is refused. Characters are counted from one. */
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

/** Rules, by the names of their tools. */
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
 * Calls that publish or approve are always asked, unless a person typed them; no rule changes that.
 * An address outside the list is asked even if a person typed it. Drafts are asked once the job has
 * read untrusted text. Anybody who may use the kill switch may pull it. Only a message whose sender
 * can be forged does not pull it by itself, because otherwise anybody could stop the workspace in a
 * member's name.
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
  /** Whether a signed-in person calls, rather than a program with a key. */
  isPerson: boolean
  /** Viewers only read. */
  readsOnly: boolean
}

/**
 * A call that nobody's words led to. A person is not asked about what they may do anyway. For a
 * program, committing is like drafting: its key was given for this.
 */
export const directVerdict = ({ isPerson, readsOnly, ...facts }: DirectFacts): Verdict => {
  if (readsOnly && !isReading(facts)) return deny('the role viewer only reads')
  const of = facts.class === 'commit' ? 'draft' : facts.class
  return verdictOf({ ...facts, class: of, offered: true, taint: [], own: isPerson && facts.mayRun })
}
