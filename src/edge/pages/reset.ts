/** The page of a password reset link, which the deployment's operator prints. */
import { AppError } from '#kernel/errors'
import { findReset } from '#ops/app/person'
import type { Incoming } from '../incoming.ts'
import type { Route } from '../route.ts'
import { visitOf } from '../serve.ts'
import { type Html, html } from './html.ts'
import {
  field,
  hiddenField,
  type Problem,
  pageResponse,
  pageStatus,
  problemsOf,
  retryHeaders,
} from './layout.ts'
import { enter, type PageDeps, pageRoute, queryOf, trustedForm } from './page.ts'

const LABELS = { new_password: 'New password' }
const TITLE = 'Choose a new password'

const form = ({
  email,
  token,
  problems,
}: {
  email: string
  token: string
  problems?: Problem[]
}): Html => html`<dl><dt>Email</dt><dd>${email}</dd></dl>
<form method="post" action="/reset">
${field({
  name: 'new_password',
  label: LABELS.new_password,
  type: 'password',
  autocomplete: 'new-password',
  problems,
  hint: 'At least 10 characters, and not a common password. Setting it signs you out everywhere.',
})}
${hiddenField('token', token)}
<button>Set password</button>
</form>`

/**
 * Opening the page does not use up the link, because link previews and mail scanners open it too.
 */
const show = async (deps: PageDeps, incoming: Incoming): Promise<Response> => {
  const token = queryOf(incoming).get('token') ?? ''
  const { email } = await findReset(
    { db: deps.db, visit: await visitOf(deps, { kind: 'public' }, incoming) },
    token,
  )
  return pageResponse({ title: TITLE, body: form({ email, token }) })
}

interface Reset {
  email: string
  revoked_keys: number
  keys_left: number
}

const keysText = ({ revoked_keys, keys_left }: Reset): string => {
  const revoked =
    revoked_keys === 0
      ? ''
      : ` API keys created by this account before its email was verified, now revoked: ${revoked_keys}.`
  const left =
    keys_left === 0
      ? ''
      : ` Your API keys that still work: ${keys_left}. Revoke those you do not recognize.`
  return `${revoked}${left}`
}

const donePage = (reset: Reset): Response =>
  pageResponse({
    title: 'Password changed',
    body: html`<p>You are signed out everywhere.${keysText(reset)}</p><p><a href="/sign-in">Sign in as ${reset.email}</a></p>`,
  })

const send = async (deps: PageDeps, incoming: Incoming): Promise<Response> => {
  const { token = '', new_password = '' } = await trustedForm(deps, incoming)
  try {
    const { body } = await enter(deps, incoming, {
      id: 'app.person.resetPassword',
      input: { token, new_password },
    })
    return donePage(body.reset)
  } catch (cause) {
    const error = AppError.from(cause)
    if (error.code !== 'invalid_input') throw cause
    const visit = await visitOf(deps, { kind: 'public' }, incoming)
    const { email } = await findReset({ db: deps.db, visit }, token)
    const problems = problemsOf(error, LABELS)
    const body = form({ email, token, problems })
    return pageResponse({
      title: TITLE,
      body,
      problems,
      status: pageStatus(error),
      headers: retryHeaders(error),
    })
  }
}

export const resetRoutes = (deps: PageDeps): Route[] => [
  pageRoute(deps, 'GET', '/reset', show),
  pageRoute(deps, 'POST', '/reset', send),
]
