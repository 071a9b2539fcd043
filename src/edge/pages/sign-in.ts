/** Signing in, and going on with a session. */
import { AppError } from '#kernel/errors'
import { goOn } from '#ops/app/session'
import type { Incoming } from '../incoming.ts'
import type { Route } from '../route.ts'
import { visitOf } from '../serve.ts'
import { html } from './html.ts'
import { field, goTo, hidden, type Problem, pageResponse, problemsOf, retryHeaders, statusOf } from './layout.ts'
import { CONTINUE_PATH, enter, ownForm, ownPlace, type PageDeps, pageRoute, queryOf, signedInPerson, signInPath } from './page.ts'

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
${hidden('next', next)}
<button>Sign in</button>
</form>
<p class="hint">No account? An owner of the workspace can send you an invitation.
Lost your password? The operator of this deployment can print you a link to choose a new one.</p>`

const show = async (deps: PageDeps, incoming: Incoming): Promise<Response> => {
  const next = ownPlace(queryOf(incoming).get('next'))
  return (await signedInPerson(deps, incoming)) ? goTo(next) : pageResponse({ title: 'Sign in', body: form({ next }) })
}

const send = async (deps: PageDeps, incoming: Incoming): Promise<Response> => {
  const { email = '', password = '', next: asked } = await ownForm(deps, incoming)
  const next = ownPlace(asked)
  try {
    const { cookies } = await enter(deps, incoming, { id: 'app.session.signIn', input: { email: email.trim(), password } })
    return goTo(next, cookies)
  } catch (cause) {
    const error = AppError.from(cause)
    if (error.status >= 500) throw cause
    const problems = problemsOf(error, LABELS)
    return pageResponse({
      title: 'Sign in',
      body: form({ next, email, problems }),
      problems,
      status: statusOf(error),
      headers: retryHeaders(error),
    })
  }
}

/** A browser that comes by a link from elsewhere keeps the refresh token back; to a step of our own it gives it. */
const onceMore = (next: string): Response => {
  const again = `${CONTINUE_PATH}?again=1&next=${encodeURIComponent(next)}`
  return pageResponse({ title: 'One moment', body: html`<p><a href="${again}">Go on</a></p>`, headers: { refresh: `0; url=${again}` } })
}

const goingOn = async (deps: PageDeps, incoming: Incoming): Promise<Response> => {
  const next = ownPlace(queryOf(incoming).get('next'))
  const visit = await visitOf(deps, { kind: 'public' }, incoming)
  if (!visit.refreshToken) return queryOf(incoming).has('again') ? goTo(signInPath(next)) : onceMore(next)
  const going = await goOn({ ...deps, visit })
  return going ? goTo(next, deps.cookies.setting(going.keep)) : goTo(signInPath(next), deps.cookies.setting('nothing'))
}

export const signInRoutes = (deps: PageDeps): Route[] => [
  pageRoute(deps, 'GET', '/sign-in', show),
  pageRoute(deps, 'POST', '/sign-in', send),
  pageRoute(deps, 'GET', CONTINUE_PATH, goingOn),
]
