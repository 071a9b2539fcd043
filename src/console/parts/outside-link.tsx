/** A link to an address that others wrote: it is one only if a browser opens it as a page. */

export const outsideAddress = (url: string | null): string | undefined =>
  url !== null && /^https?:\/\//i.test(url) && URL.canParse(url) ? url : undefined

const X_HOSTS = ['x.com', 'www.x.com', 'twitter.com', 'mobile.twitter.com']

/** The site of an address, as people call it. */
export const siteOf = (address: string): string => {
  const { host } = new URL(address)
  return X_HOSTS.includes(host) ? 'X' : host
}

/** After other words of a line. */
export const OutsideLink = ({ url }: { url: string | null }) => {
  const address = outsideAddress(url)
  if (address === undefined) return null
  return (
    <>
      {' · '}
      <a href={address} target="_blank" rel="noreferrer noopener">
        Open
      </a>
    </>
  )
}
