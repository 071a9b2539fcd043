/** What the page of a sign-in to an account says, by how it stands. */
import { type Html, html } from './html.ts'
import type { PageContent } from './layout.ts'

interface ShownAuthorization {
  status: 'pending' | 'connected' | 'refused' | 'expired'
  network: string
  handle: string | null
  reason: string | null
  account: { handle: string; display_name: string | null; is_default: boolean } | null
}

export interface StandingPage {
  authorization: ShownAuthorization
  workspace: string
  /** The person has come back, and the account is being connected. */
  isOnItsWay: boolean
  /** The session ends after two weeks. */
  isShort: boolean
}

const NETWORKS: Record<string, string> = { bluesky: 'Bluesky' }
const nameOf = (network: string): string => NETWORKS[network] ?? network

const SHORT = html`<p class="note">This deployment is on your own machine, so Bluesky ends the access after two weeks. With an app password it lasts longer.</p>`

const AGAIN = html`<p>To begin again: <code>tendril connections add bluesky --oauth</code>, or with an app password: <code>tendril connections add bluesky</code></p>`

const asking = ({
  authorization: { network, handle },
  workspace,
  isShort,
}: StandingPage): PageContent => ({
  title: `Connect an account of ${nameOf(network)}`,
  body: html`<p>The next page is one of ${nameOf(network)}. There you sign in, and grant access to your account; Tendril sees no password.</p>
<p class="note"><strong>Continue only if you began this yourself, just now.</strong> The account will be used by everybody in the workspace.</p>
<dl>
<dt>Workspace</dt><dd>${workspace}</dd>
<dt>Network</dt><dd>${nameOf(network)}</dd>
<dt>Account</dt><dd>${handle ?? `The one that you choose on the page of ${nameOf(network)}`}</dd>
<dt>Access</dt><dd>Tendril can read what the account can read, and post, reply, quote, repost and like as it. It does so only for what a person has approved. It can neither delete the account nor change its password or handle.</dd>
</dl>
${isShort ? SHORT : undefined}
<form method="post"><button>Continue to ${nameOf(network)}</button></form>`,
})

const connected = ({
  authorization: { network, account },
  workspace,
  isShort,
}: StandingPage): PageContent => ({
  title: 'Account connected',
  body: html`<p>You can close this page.</p>
<dl>
<dt>Account</dt><dd>${account?.display_name ? `${account.display_name}, ` : ''}@${account?.handle}</dd>
<dt>Network</dt><dd>${nameOf(network)}</dd>
<dt>Workspace</dt><dd>${workspace}</dd>
<dt>Access</dt><dd>Tendril can post, reply, quote, repost and like as this account, each time after a person has approved it.</dd>
<dt>New approvals</dt><dd>${account?.is_default ? 'Use this account from now on.' : 'Use another account, which is the default.'}</dd>
</dl>
${isShort ? SHORT : undefined}`,
})

const ended = (title: string, why: Html): PageContent => ({ title, body: html`${why}${AGAIN}` })

export const standingBody = (page: StandingPage): PageContent => {
  const { status, reason } = page.authorization
  if (status === 'connected') return connected(page)
  if (status === 'refused') return ended('Nothing was connected', html`<p>${reason ?? ''}</p>`)
  if (status === 'expired' && page.isOnItsWay)
    return ended(
      'Nothing was connected',
      html`<p>The server was stopped while the account was being connected.</p>`,
    )
  if (status === 'expired')
    return ended(
      'Too late',
      html`<p>You did not come back within ten minutes, so nothing was connected.</p>`,
    )
  if (!page.isOnItsWay) return asking(page)
  return {
    title: 'The account is being connected',
    body: html`<p>Load this page again in a moment.</p>`,
  }
}
