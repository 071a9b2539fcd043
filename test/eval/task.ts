/**
 * A task of the eval, as data: a workspace, what a person asks in it, and what its rows must say
 * afterwards. What a good model and a mistaken one do stands beside it, so that the suite can show
 * that the checks take the one and refuse the other.
 *
 * `{{day+1}}` in any text is tomorrow's date, `{{site}}` a host that the agent may read and
 * `{{other}}` one that it may not.
 */
import type { Role } from '#kernel/roles'

type Call = [tool: string, args: Record<string, unknown>]

/**
 * The calls of each answer in turn. `<item: dock>` in an argument is the handle of the last record
 * shown whose text has that word.
 */
export type Script = Call[][]

export interface Given {
  /** A profile with stories and proof, from which posts can be drafted. */
  profile?: boolean
  items?: {
    body: string
    status?: 'drafted' | 'approved' | 'scheduled'
    kind?: 'post' | 'article'
    title?: string
  }[]
  learnings?: { kind: 'worked' | 'flopped'; note: string }[]
  products?: { name: string; one_liner: string }[]
  experiments?: { name: string; hypothesis: string }[]
  rules?: string[]
  /** Handles of accounts that are read. */
  targets?: string[]
  /** Posts of others that the agent may reply to. */
  signals?: string[]
  /** Untrusted: written in a job that had read text of strangers. */
  memories?: { text: string; untrusted?: boolean }[]
  playbooks?: { slug: string; content: string; pinned?: boolean; draft?: string }[]
  /** Trusted: uploaded by the workspace's own people. */
  documents?: { fileName: string; content: string; trusted?: boolean }[]
  schedules?: string[]
  webhookRules?: string[]
  artifacts?: string[]
  /** What hosts of the web answer, by path. */
  pages?: Record<string, string>
  paused?: boolean
}

/** How many rows of the workspace meet a condition in SQL; one unless a number is given. */
export type RowCheck = [table: string, condition: string, count?: number]

/** What is asked in a workspace, and what must be so afterwards. */
export interface Asked {
  name: string
  given?: Given
  /** Whose session asks; an owner's unless told. */
  role?: Role
  /** What was said before in the same conversation. */
  before?: { ask: string; script?: Script }[]
  ask: string
  /** Beside the work of the agent itself, nothing else may have changed. */
  changes?: string[]
  rows?: RowCheck[]
  /**
   * Tools that a person must be asked about, each as often as it stands here; what else is asked
   * counts against the model.
   */
  asks?: string[]
  /** What that person says, to what must be asked. */
  decide?: 'approve' | 'reject'
  /** Tools that publish or approve and are the person's own act, so that nobody is asked. */
  own?: string[]
  /** One of these must have been called with success. */
  uses?: string[]
}

export interface Task extends Asked {
  script: Script
  mistake: Script
  /** What sub-agents do, by their goals. */
  children?: Record<string, Script>
}

export interface Names {
  site: string
  other: string
  /** When the run began. */
  now: Date
}

const DAY_MS = 86_400_000

/** A text, or data with texts, with the names filled in. */
export const filled = <T>(value: T, { site, other, now }: Names): T =>
  JSON.parse(
    JSON.stringify(value)
      .replaceAll('{{site}}', site)
      .replaceAll('{{other}}', other)
      .replace(/\{\{day\+(\d+)\}\}/g, (_, days: string) =>
        new Date(now.getTime() + Number(days) * DAY_MS).toISOString().slice(0, 10),
      ),
  )
