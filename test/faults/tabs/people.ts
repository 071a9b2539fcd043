/** People in browsers of their own: how they join and sign in, and how their tokens end. */

import type { Browser, BrowserContext } from 'playwright-core'
import { soleKey } from '#kernel/secret-keys'
import { inviteByOperator } from '#ops/operator/admin/workspaces'
import { createTokens } from '#port/tokens'
import { openDb } from '#store/engine/db'
import { TEST_SECRET } from '#test/support/database/db'
import { PASSWORD, tokenIn } from '#test/support/people'
import type { TwoServers } from './servers.ts'

export interface Visitor {
  context: BrowserContext
  personId: string
  sessionId: string
}

const invited = async ({ options, address }: TwoServers, tenantId: string): Promise<string> => {
  await using db = openDb({ ...options.database!, max: 1 })
  return tokenIn(
    await inviteByOperator({ db, publicUrl: address.url }, { tenantId, role: 'owner' }),
  )
}

const post = async (context: BrowserContext, url: string, data: object) => {
  const origin = new URL(url).origin
  const reply = await context.request.post(url, { data, headers: { origin } })
  if (!reply.ok()) throw new Error(`${url}: ${reply.status()} ${await reply.text()}`)
  // biome-ignore lint/suspicious/noExplicitAny: an answer of the API
  return (await reply.json()) as any
}

/** A new owner of the workspaces, signed in to the first one by cookies, as a browser has them. */
export const enterAs = async (
  browser: Browser,
  servers: TwoServers,
  { name, email, tenants }: { name: string; email: string; tenants: readonly string[] },
): Promise<Visitor> => {
  const { url } = servers.address
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  for (const tenant of tenants.toReversed())
    await post(context, `${url}/api/v1/app/invitations/accept`, {
      token: await invited(servers, tenant),
      email,
      password: PASSWORD,
      name,
    })
  const body = { email, password: PASSWORD, workspace_id: tenants[0] }
  const { session } = await post(context, `${url}/api/v1/app/session`, body)
  return { context, personId: session.person.id, sessionId: session.id }
}

const SECOND_MS = 1_000

/** The access token ends: from here on the browser has one whose time is over. */
export const endAccess = async (
  { context, personId, sessionId }: Visitor,
  url: string,
): Promise<void> => {
  const over = new Date(Date.now() - SECOND_MS)
  const value = await createTokens(soleKey(TEST_SECRET)).access({ sessionId, personId }, over)
  await context.addCookies([{ name: 'tendril', value, url, httpOnly: true, sameSite: 'Lax' }])
}
