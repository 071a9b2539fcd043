/** The sign-in page, and the renewal of expired access tokens. */
import { AppError } from '#kernel/errors'
import { continueSession } from '#ops/app/access/sessions'
import type { Incoming } from '../incoming.ts'
import type { Route } from '../route.ts'
import { visitOf } from '../serve.ts'
import { html } from './html.ts'
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
import {
  CONTINUE_PATH,
  enter,
  type PageDeps,
  pageRoute,
  queryOf,
  safePath,
  signedInPerson,
  signInPath,
  trustedForm,
} from './page.ts'

const LABELS = { email: 'Email', password: 'Password' }

interface Shown {
  next: string
  email?: string | undefined
  problems?: Problem[]
}

const form = ({ next, email, problems }: Shown) => html`<p>Sign in to your workspace.</p>
<form method="post" action="/sign-in">
${field({ name: 'email', label: LABELS.email, type: 'email', autocomplete: 'username', value: email, problems })}
${field({ name: 'password', label: LABELS.password, type: 'password', autocomplete: 'current-password', problems })}
${hiddenField('next', next)}
<button>Sign in</button>
</form>
<p class="hint">No account? An owner of the workspace can send you an invitation.
Forgot your password? Ask the operator of this deployment for a link to choose a new one.</p>`

const show = async (deps: PageDeps, incoming: Incoming): Promise<Response> => {
  const next = safePath(queryOf(incoming).get('next'))
  return (await signedInPerson(deps, incoming))
    ? redirect(next)
    : pageResponse({ title: 'Sign in', body: form({ next }) })
}

const send = async (deps: PageDeps, incoming: Incoming): Promise<Response> => {
  const { email = '', password = '', next: requested } = await trustedForm(deps, incoming)
  const next = safePath(requested)
  try {
    const { cookies } = await enter(deps, incoming, {
      id: 'app.session.signIn',
      input: { email: email.trim(), password },
    })
    return redirect(next, cookies)
  } catch (cause) {
    const error = AppError.from(cause)
    if (error.status >= 500) throw cause
    const problems = problemsOf(error, LABELS)
    return pageResponse({
      title: 'Sign in',
      body: form({ next, email, problems }),
      problems,
      status: pageStatus(error),
      headers: retryHeaders(error),
    })
  }
}

/**
 * Browsers do not send the SameSite refresh cookie when they follow a link from another site. This
 * second, same-site step gets it.
 */
const retrySameSite = (next: string): Response => {
  const again = `${CONTINUE_PATH}?again=1&next=${encodeURIComponent(next)}`
  return pageResponse({
    title: 'One moment',
    body: html`<p><a href="${again}">Continue</a></p>`,
    headers: { refresh: `0; url=${again}` },
  })
}

const renew = async (deps: PageDeps, incoming: Incoming): Promise<Response> => {
  const next = safePath(queryOf(incoming).get('next'))
  const visit = await visitOf(deps, { kind: 'public' }, incoming)
  if (!visit.refreshToken)
    return queryOf(incoming).has('again') ? redirect(signInPath(next)) : retrySameSite(next)
  const continued = await continueSession({ ...deps, visit })
  return continued
    ? redirect(next, deps.cookies.setting(continued.cookies))
    : redirect(signInPath(next), deps.cookies.setting('clear'))
}

export const signInRoutes = (deps: PageDeps): Route[] => [
  pageRoute(deps, 'GET', '/sign-in', show),
  pageRoute(deps, 'POST', '/sign-in', send),
  pageRoute(deps, 'GET', CONTINUE_PATH, renew),
]
