/** The page of an invitation link, including the one that the first start prints. */
import { AppError } from '#kernel/errors'
import { findInvitation } from '#ops/app/invitations'
import type { Invited } from '#store/app/invitations'
import type { Incoming } from '../incoming.ts'
import type { Route } from '../route.ts'
import { type Html, html } from './html.ts'
import {
  field,
  hiddenField,
  type Problem,
  pageResponse,
  pageStatus,
  problemsOf,
  redirect,
  retryHeaders,
} from './layout.ts'
import { enter, type PageDeps, pageRoute, queryOf, trustedForm } from './page.ts'
import { roleText } from './words.ts'

const LABELS = { email: 'Email', name: 'Name', password: 'Password' }
const TITLE = 'Join a workspace'

interface Shown {
  invitation: Invited
  token: string
  email?: string | undefined
  name?: string | undefined
  problems?: Problem[]
}

const emailField = ({ invitation, email, problems }: Shown): Html =>
  invitation.email === null
    ? field({
        name: 'email',
        label: LABELS.email,
        type: 'email',
        autocomplete: 'username',
        value: email,
        problems,
      })
    : html`<dl><dt>Email</dt><dd>${invitation.email}</dd></dl>`

const form = (
  shown: Shown,
): Html => html`<p>You are invited to join a workspace on this deployment of Tendril.</p>
<dl><dt>Workspace</dt><dd>${shown.invitation.workspace}</dd><dt>Your role</dt><dd>${roleText(shown.invitation.role)}</dd></dl>
<form method="post" action="/join">
${emailField(shown)}
${field({ name: 'name', label: LABELS.name, autocomplete: 'name', value: shown.name, optional: true, problems: shown.problems })}
${field({
  name: 'password',
  label: LABELS.password,
  type: 'password',
  autocomplete: 'new-password',
  problems: shown.problems,
  hint: 'At least 10 characters, and not a common password. If you already have an account here with this email, enter its password; any other password creates a new account.',
})}
${hiddenField('token', shown.token)}
<button>Join</button>
</form>`

const show = async (deps: PageDeps, incoming: Incoming): Promise<Response> => {
  const token = queryOf(incoming).get('token') ?? ''
  const invitation = await findInvitation(deps.db, token)
  return pageResponse({ title: TITLE, body: form({ invitation, token }) })
}

const send = async (deps: PageDeps, incoming: Incoming): Promise<Response> => {
  const { token = '', email, name, password = '' } = await trustedForm(deps, incoming)
  const invitation = await findInvitation(deps.db, token)
  const own = {
    ...(email === undefined ? {} : { email: email.trim() }),
    ...(name === undefined ? {} : { name }),
  }
  try {
    const { cookies } = await enter(deps, incoming, {
      id: 'app.invitations.accept',
      input: { token, password, ...own },
    })
    return redirect('/', cookies)
  } catch (cause) {
    const error = AppError.from(cause)
    if (error.status >= 500) throw cause
    const problems = problemsOf(error, LABELS)
    const body = form({ invitation, token, email, name, problems })
    return pageResponse({
      title: TITLE,
      body,
      problems,
      status: pageStatus(error),
      headers: retryHeaders(error),
    })
  }
}

export const joinRoutes = (deps: PageDeps): Route[] => [
  pageRoute(deps, 'GET', '/join', show),
  pageRoute(deps, 'POST', '/join', send),
]
