/**
 * What a person is asked to allow: a sentence made from the records, and what the decision is bound
 * to.
 */
import { includedIn } from '#contract/included'
import type { NamedOp } from '#contract/op'
import { sayingFor } from '#decisions/agent/say'
import type { CallSummary } from '#decisions/agent/saying'
import type { Subject } from '#domain/agent/job/approval'
import { beginning } from '#kernel/storable'
import type { Networks } from '#port/network/registry'
import type { Sql } from '#store/engine/db'
import { loadNow } from '#store/engine/load'

const nothing: Subject = { records: [], account: null, text: null, sha256: null }

interface Asked {
  name: string
  args: Record<string, unknown>
  title: string
}

/** The longest argument that the sentence shows. */
const SHOWN = 120

const showValue = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > SHOWN ? `${beginning(text, SHOWN)}…` : text
}

/** For a tool without a sentence of its own: its title and the arguments. */
const plain = ({ title, args }: Asked): string => {
  const parts = Object.entries(args).map(([name, value]) => `${name} ${showValue(value)}`)
  return parts.length === 0 ? title : `${title}: ${parts.join(', ')}`
}

/**
 * What a call of class commit does. If something is posted automatically later, the call that sets
 * its time publishes it; an approval alone publishes nothing.
 */
export const commitReason = (
  o: Pick<NamedOp, 'id' | 'outside' | 'includes'> | undefined,
  args: Record<string, unknown>,
): string => {
  const isSent = o?.outside || (o && includedIn(o, args)?.outside)
  if (isSent || args.post_at !== undefined) return 'publishes'
  return o?.id.endsWith('.approve') ? 'approves' : 'changes the workspace'
}

export const subjectFor = async (
  o: NamedOp | undefined,
  asked: Asked,
  { sql, networks }: { sql: Sql; networks: Networks },
): Promise<CallSummary> => {
  const saying = o && sayingFor(o.id, asked.args)
  return saying
    ? saying.read(await loadNow(sql, saying.load), networks)
    : { summary: plain(asked), subject: nothing }
}
