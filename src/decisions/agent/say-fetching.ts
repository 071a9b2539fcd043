/** What a person is asked before a web page is read that is not read unasked. */
import type { Static } from '@sinclair/typebox'
import type { fetchCapabilities } from '#contract/agent/fetching'
import { hostOf } from '#domain/agent/job/fetching'
import { type Says, saying, summariseCall } from './saying.ts'

/** The address itself is what leaves the workspace. */
const fetchUrl = saying(
  (_: Static<typeof fetchCapabilities.fetch_url.input>) => ({}),
  (_, { url }) =>
    summariseCall(`Read a page of ${hostOf(url) ?? 'the web'}, which gets to see the address`, {
      text: url,
    }),
)

export const fetchSayings = { 'agent.actions.fetch_url': fetchUrl } satisfies Record<
  string,
  Says<never>
>
