/** What the desk quotes to answer a free question, from each kind of text that the job may read. */
import { isForStranger } from '#domain/agent/channel/trust'
import { passagePath, stripBrackets } from '#domain/agent/knowledge/document'
import {
  bestOf,
  MOST_QUOTATIONS,
  type QuotedPassage,
  quotationOf,
  quotationsIn,
  sourceOf,
} from '#domain/agent/knowledge/quoting'
import { spacedWords, withMarks } from '#kernel/spacing'
import { type FoundPassage, searchPassages } from '#store/agent/document-search'
import { quotableMemories, quotablePlaybooks, wordsAsked } from '#store/agent/quoting'
import { loadBy, when } from '#store/engine/load'
import { profilePart } from '#store/growth/profiles'
import type { AgentDeps } from './deps.ts'
import type { AgentOutcome } from './outcome.ts'
import type { Thinking } from './thought.ts'

/** A quotation, with the record that it comes from. */
type Found = QuotedPassage & { memory?: string; playbook?: { slug: string; version: number } }

/** The headings at the beginning of a passage. */
const HEADINGS = /^(?:#{1,6}[ \t][^\n]*\n\s*)+/

/** `publicUrl`: null for a stranger, who cannot open the page of a passage. */
const ofDocument = (
  { document_id, file_name, path, start_at, trusted, ...found }: FoundPassage,
  publicUrl: string | null,
): Found => {
  const page = publicUrl === null ? '' : `: ${publicUrl}${passagePath(document_id, start_at)}`
  const source = `${sourceOf(stripBrackets(file_name), path.map(stripBrackets))}${page}`
  const marked = withMarks(found.text, found.marked)
  // The source already names the headings.
  const under = marked.replace(HEADINGS, '')
  const from = { source, tool: 'search_documents', untrusted: !trusted }
  return {
    ...quotationOf(under === '' ? marked : under, from),
    words: quotationOf(marked, from).words,
  }
}

const find = async (
  deps: AgentDeps,
  { job, offered }: Thinking,
  tenantId: string,
  text: string,
): Promise<Found[]> => {
  const read: Parameters<typeof loadBy>[0] = (query) => deps.db.read({ tenantId }, query)
  const { language } = (await loadBy(read, { stored: profilePart })).stored.profile
  const may = (tool: string) => offered.includes(tool)
  const isStrangers = isForStranger(job.on_behalf)
  const { asked, documents, memories, playbooks } = await loadBy(read, {
    asked: wordsAsked(text, language),
    documents: when(
      may('search_documents'),
      searchPassages(spacedWords(text), MOST_QUOTATIONS, { publicOnly: isStrangers }),
    ),
    playbooks: when(
      may('read_playbook'),
      quotablePlaybooks(text, language, { pinnedOnly: isStrangers }),
    ),
    memories: when(
      may('search_memories'),
      quotableMemories({ personId: job.on_behalf.personId, text }),
    ),
  })
  const found: Found[] = [
    ...(documents ?? []).map((passage) => ofDocument(passage, isStrangers ? null : deps.publicUrl)),
    ...(playbooks ?? []).flatMap(({ slug, version, content, marked }) =>
      quotationsIn(withMarks(content, marked), {
        source: `playbook ${slug}`,
        tool: 'read_playbook',
        untrusted: false,
      }).map((one) => ({
        ...one,
        playbook: { slug, version },
      })),
    ),
    ...(memories ?? []).map(({ id, untrusted, marked, ...memory }) => ({
      ...quotationOf(withMarks(memory.text, marked), {
        source: 'a memory',
        tool: 'search_memories',
        untrusted,
      }),
      memory: id,
    })),
  ]
  return bestOf(found, asked.count)
}

type Given = Pick<Extract<AgentOutcome, { kind: 'thought' }>, 'memoryIds' | 'playbooks' | 'foreign'>

/**
 * A search for the desk, and its result. A job that nobody watches gets no quotations instead of a
 * command.
 */
export const quoting = (deps: AgentDeps, run: Thinking, tenantId: string) => {
  let found: Found[] = []
  const given = (): Given => ({
    memoryIds: found.flatMap(({ memory }) => memory ?? []),
    playbooks: found.flatMap(({ playbook }) => playbook ?? []),
    foreign: [...new Set(found.flatMap(({ untrusted, tool }) => (untrusted ? tool : [])))],
  })
  const search = async (text: string): Promise<QuotedPassage[]> => {
    found = run.job.origin === 'manual' ? await find(deps, run, tenantId, text) : []
    return found
  }
  return { search, given }
}
