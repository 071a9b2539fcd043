/** The page that a citation opens: a passage of a document, and where it is in the document. */
import type { SessionGrant } from '#store/app/sessions'
import type { Incoming } from '../incoming.ts'
import type { Route } from '../route.ts'
import { type Html, html } from './html.ts'
import { pageResponse, timeText } from './layout.ts'
import {
  foundPage,
  type PageDeps,
  pageRoute,
  queryOf,
  run,
  signedInPerson,
  toSignIn,
} from './page.ts'

interface Read {
  document: {
    id: string
    fileName: string
    trusted: boolean
    status: string
    error: string | null
    createdAt: string
    length: number
  }
  passage: {
    number: number
    heading: string | null
    start: number
    end: number
    text: string
  } | null
}

const idOf = ({ params }: Incoming): string => params!.id!

/** The number in the address. If it is not a number, it is refused with the rest of the input. */
const placeOf = (incoming: Incoming): number => Number(queryOf(incoming).get('at') ?? 0)

const unread = ({ status, error }: Read['document']): Html =>
  html`<p class="note">This document cannot be shown in passages yet: it is ${status}${error === null ? '' : `, ${error}`}.</p>`

const outsideNote = html`<p class="note">Nobody in this workspace answers for what this document says.</p>`

const bodyOf = (
  { document, passage }: Read,
  workspace: string,
): Html => html`${document.trusted ? undefined : outsideNote}
${passage === null ? unread(document) : html`<div class="text" dir="auto">${passage.text}</div>`}
<dl>
<dt>Document</dt><dd>${document.fileName}</dd>
${passage?.heading ? html`<dt>Heading</dt><dd>${passage.heading}</dd>` : undefined}
${passage ? html`<dt>Characters</dt><dd>${passage.start}–${passage.end} of ${document.length}</dd>` : undefined}
<dt>Added</dt><dd>${timeText(document.createdAt)}</dd>
<dt>Workspace</dt><dd>${workspace}</dd>
</dl>`

const show = async (
  deps: PageDeps,
  incoming: Incoming,
  { workspace }: SessionGrant,
): Promise<Response> => {
  const input = { id: idOf(incoming), at: placeOf(incoming) }
  const read = (await run(deps, incoming, { id: 'agent.documents.get', input })) as Read
  return pageResponse({ title: read.document.fileName, body: bodyOf(read, workspace.name) })
}

const open = async (deps: PageDeps, incoming: Incoming): Promise<Response> => {
  const person = await signedInPerson(deps, incoming)
  const path = `/documents/${encodeURIComponent(idOf(incoming))}?at=${placeOf(incoming)}`
  return person
    ? foundPage(show(deps, incoming, person), person, 'passage of a document')
    : toSignIn(deps, incoming, path)
}

export const documentPassagePageRoutes = (deps: PageDeps): Route[] => [
  pageRoute(deps, 'GET', '/documents/:id', open),
]
