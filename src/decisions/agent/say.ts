/**
 * What a person is asked: a sentence for each operation that publishes, approves or changes the
 * workspace, and what the decision is bound to.
 */
import type { agentResources } from '#contract/agent-resources'
import type { appResources } from '#contract/app-resources'
import type { growthResources } from '#contract/growth-resources'
import type { IdsOf } from '#contract/op'
import { engagementSayings } from './say-engagements.ts'
import { fetchSayings } from './say-fetching.ts'
import { itemTextSayings } from './say-item-texts.ts'
import { itemSayings } from './say-items.ts'
import { ruleSayings } from './say-rules.ts'
import { workspaceSayings } from './say-workspace.ts'
import type { Saying, Says } from './saying.ts'

/**
 * Operations that the agent never runs unasked. One without a sentence for its approval does not
 * compile.
 */
type Committing =
  | IdsOf<typeof growthResources, Commit>
  | IdsOf<typeof agentResources, Commit>
  | IdsOf<typeof appResources, Commit>
interface Commit {
  agent: 'commit'
}

const committing: Record<Committing, Says<never>> = {
  ...itemSayings,
  ...itemTextSayings,
  ...engagementSayings,
  ...ruleSayings,
  ...workspaceSayings,
  ...fetchSayings,
}
const sayings: Partial<Record<string, Says<never>>> = committing

/**
 * Takes an operation's id and valid input. Undefined for operations that have no sentence of their
 * own.
 */
export const sayingFor = (operation: string, input: unknown): Saying | undefined =>
  sayings[operation]?.(input as never)
