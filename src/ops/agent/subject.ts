/** What a person is asked to allow: a sentence made from the records, and what the decision is bound to. */
import type { NamedOp } from '#contract/op'
import type { Subject } from '#domain/agent/approval'
import type { Sql } from '#store/engine/db'

const nothing: Subject = { records: [], account: null, text: null, sha256: null }

interface Asked {
  name: string
  args: Record<string, unknown>
  title: string
}

/** The longest text of an argument that the sentence shows. */
const SHOWN = 120

const shown = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}

/** For a tool without a sentence of its own: its title with the arguments. */
const plain = ({ title, args }: Asked): string => {
  const parts = Object.entries(args).map(([name, value]) => `${name} ${shown(value)}`)
  return parts.length === 0 ? title : `${title}: ${parts.join(', ')}`
}

export const subjectFor = async (_o: NamedOp | undefined, asked: Asked, _sql: Sql): Promise<{ summary: string; subject: Subject }> => ({
  summary: plain(asked),
  subject: nothing,
})
