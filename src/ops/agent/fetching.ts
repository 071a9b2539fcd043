import { type fetchCapabilities, usualCharacters } from '#contract/agent/fetching'
import type { AskingFacts } from '#decisions/agent/toolbox'
import { allowedHosts, fetchAsks } from '#domain/agent/job/fetching'
import { decisionsOf } from '#domain/agent/job/verdict'
import { fail } from '#kernel/errors'
import { readPage, Unreadable } from '#port/egress/page'
import { EgressRefused } from '#port/egress/target'
import { toolDecisions } from '#store/agent/rules'
import { loadBy } from '#store/engine/load'
import type { CapabilityParts, Handlers } from '../engine/call.ts'

type Fetching = Pick<CapabilityParts, 'egress' | 'fetchAllow'>

/** What went wrong, without text from the address. */
const failFetch = (cause: unknown): never => {
  if (cause instanceof EgressRefused) fail('invalid_input', `url: ${cause.message}`)
  if (cause instanceof Unreadable) fail('network_error', cause.message)
  if (cause instanceof Error && cause.name === 'TimeoutError')
    fail('network_error', 'the address did not answer in time')
  return fail('network_error', 'the address cannot be reached, or did not answer properly')
}

/**
 * Why a person is asked before this address is read. Sends nothing and resolves no name. Throws
 * `invalid_input`.
 */
export const askedOfAddress = (
  { egress, fetchAllow }: Fetching,
  url: string,
  { rules, taint, inChannel = false, unasked }: AskingFacts,
): string[] => {
  try {
    egress.check(url)
  } catch (cause) {
    failFetch(cause)
  }
  return fetchAsks({
    url,
    hosts: [...fetchAllow, ...allowedHosts(rules)],
    taint,
    inChannel,
    unasked,
  })
}

/** Whether the address itself may be read was decided before. */
export const fetchHandlers = ({
  egress,
  fetchAllow,
}: Fetching): Handlers<typeof fetchCapabilities> => ({
  async fetch_url({ url, maxCharacters = usualCharacters }, { read, job }) {
    const { rules } = await loadBy(read, { rules: toolDecisions })
    const hosts = [...fetchAllow, ...allowedHosts(decisionsOf(rules))]
    // The job does not choose where a redirect leads, so it does not count towards what the job
    // reads unasked.
    const facts = {
      hosts,
      taint: job?.taint ?? [],
      inChannel: job?.onBehalf.kind === 'channel',
      unasked: 0,
    }
    const mayFollow = (next: string) => fetchAsks({ ...facts, url: next }).length === 0
    const { isCut, ...page } = await readPage(egress, {
      url,
      most: maxCharacters,
      mayFollow,
    }).catch(failFetch)
    return { ...page, truncated: isCut }
  },
})
