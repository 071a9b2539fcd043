import type { documentCapabilities, documents } from '#contract/agent/documents'
import { onBehalfOf } from '#decisions/agent/caller'
import { newWork } from '#decisions/work'
import {
  type Document,
  documentView,
  hashContent,
  isPublic,
  newDocument,
  passageView,
  READ_AT_ONCE,
  retryReading,
  type StoredPassage,
} from '#domain/agent/knowledge/document'
import { documentRoom } from '#domain/app/room'
import { fail, found } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { placesOfMarks, spacedWords } from '#kernel/spacing'
import { type FoundPassage, searchPassages } from '#store/agent/document-search'
import {
  contentPart,
  deleteDocument,
  documentPart,
  documentStock,
  equalDocument,
  insertDocument,
  listDocuments,
  passagesAt,
  saveDocument,
} from '#store/agent/documents'
import { loadBy, when } from '#store/engine/load'
import { isStranger, roleOf } from '#store/engine/principal'
import { searchConfiguration } from '#store/engine/text-search'
import { profilePart } from '#store/growth/profiles'
import type { Handlers, QueryContext } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'

const requireDocument = (document: Document | undefined): Document =>
  found(document, 'no such document')

interface Linked {
  /** The base URL of links, without a trailing slash. */
  publicUrl: string
}

/** Reads a document, or removes what remains of a deleted one. */
const ingest = (id: string, now: Date) =>
  newWork('ingest', { refId: id, origin: 'manual', runAt: now })

const search = async (
  { read, principal }: Pick<QueryContext, 'read' | 'principal'>,
  words: string,
  limit: number,
): Promise<FoundPassage[]> =>
  (
    await loadBy(read, {
      hits: searchPassages(spacedWords(words), limit, { publicOnly: isStranger(principal) }),
    })
  ).hits

const hitView = (hit: FoundPassage, { publicUrl }: Linked) => ({
  ...passageView(hit, publicUrl),
  highlights: placesOfMarks(hit.text, hit.marked).map(({ start, end }) => ({
    start: hit.start_at + start,
    end: hit.start_at + end,
  })),
  score: Math.round(hit.score * 1_000) / 1_000,
})

/** Throws `invalid_input`. */
const requireWithin = ({ length }: Document, at: number): void => {
  if (at < length) return
  const message = `must be less than ${length}, where the content ends`
  fail('invalid_input', `at ${message}`, { details: [{ path: 'at', message }] })
}

type All = Handlers<typeof documents>

const list: All['list'] = async ({ status, fileName, ...input }, { read }) => {
  const page = pageOf(input)
  const { rows, next_cursor } = pageResult(
    await read(listDocuments({ ...page, status, fileName })),
    page.limit,
  )
  return { documents: rows.map(documentView), nextCursor: next_cursor }
}

const add: All['add'] = loading(
  ({ content }) => ({
    equal: equalDocument(hashContent(content)),
    stock: documentStock,
    profile: profilePart,
  }),
  (
    { fileName, content, mimeType, metadata = {} },
    { gate, principal },
    { equal, stock, profile },
  ) => {
    const wish = {
      id: newId(),
      fileName,
      content,
      mimeType,
      metadata,
      author: onBehalfOf(principal),
      role: roleOf(principal),
    }
    const configuration = searchConfiguration(profile.profile.language)
    const document = newDocument(
      { ...wish, configuration, now: gate.now },
      { equal, ...stock },
      documentRoom(gate),
    )
    const effects = {
      writes: [insertDocument(document, content)],
      work: [ingest(document.id, gate.now)],
    }
    const { byte_size, trusted } = document
    return {
      reply: { document: documentView(document) },
      effects,
      refId: document.id,
      auditDetail: { byte_size, trusted },
    }
  },
)

const remove: All['remove'] = loading(
  ({ id }) => ({ document: documentPart(id) }),
  ({ id }, { gate }, { document }) => ({
    reply: { document: documentView(requireDocument(document)) },
    effects: { writes: [deleteDocument(id)], work: [ingest(id, gate.now)] },
  }),
)

const retry: All['retry'] = loading(
  ({ id }) => ({ document: documentPart(id), stock: documentStock }),
  ({ id }, { gate }, { document, stock }) => {
    const again = retryReading(requireDocument(document), gate.now, {
      ...stock,
      room: documentRoom(gate),
    })
    return {
      reply: { document: documentView(again) },
      effects: { writes: [saveDocument(again)], work: [ingest(id, gate.now)] },
    }
  },
)

const get =
  (linked: Linked): All['get'] =>
  async ({ id, at }, { read }) => {
    const isPlace = at !== undefined
    const parts = {
      text: when(!isPlace, contentPart(id)),
      passages: when(isPlace, passagesAt(id, at ?? 0, 1)),
    }
    const loaded = await loadBy(read, { document: documentPart(id), ...parts })
    const document = requireDocument(loaded.document)
    if (isPlace) requireWithin(document, at)
    const [passage] = loaded.passages ?? []
    return {
      document: { ...documentView(document), content: loaded.text?.content ?? null },
      passage: passage ? passageView(passage, linked.publicUrl) : null,
    }
  }

export const documentHandlers = (linked: Linked): All => ({
  list,

  async search({ q, limit = 10 }, context) {
    return { passages: (await search(context, q, limit)).map((hit) => hitView(hit, linked)) }
  },

  add,
  get: get(linked),
  remove,
  retry,
})

/**
 * Trusted and untrusted passages are kept apart, because text of outsiders taints the job that is
 * shown it.
 */
const byTrust = (
  all: readonly StoredPassage[],
  { publicUrl }: Linked,
  { principal }: Pick<QueryContext, 'principal'>,
) => {
  const url = isStranger(principal) ? null : publicUrl
  const shown = (trusts: boolean) =>
    all.filter(({ trusted }) => trusted === trusts).map((one) => passageView(one, url))
  return { passages: shown(true), untrusted: shown(false) }
}

export const documentCapabilityHandlers = (
  linked: Linked,
): Handlers<typeof documentCapabilities> => ({
  async search_documents({ query, limit = 5 }, context) {
    return byTrust(await search(context, query, limit), linked, context)
  },

  async read_document({ id, at = 0 }, context) {
    const { read, principal } = context
    const loaded = await loadBy(read, {
      document: documentPart(id),
      passages: passagesAt(id, at, READ_AT_ONCE + 1),
    })
    const document = requireDocument(loaded.document)
    // For a stranger, a document that is not public does not exist.
    const { status, error } = requireDocument(
      isStranger(principal) && !isPublic(document) ? undefined : document,
    )
    if (status !== 'ready')
      fail('conflict', `the document is ${status}${error ? `: ${error}` : ''}`, {
        reason: 'wrong_state',
      })
    const shown = loaded.passages.slice(0, READ_AT_ONCE)
    return {
      ...byTrust(shown, linked, context),
      nextAt: loaded.passages[READ_AT_ONCE]?.start_at ?? null,
    }
  },
})
