/** Content-Disposition for any file name (RFC 6266, RFC 8187). */

/**
 * The name for old clients: printable ASCII without quotes, backslashes and percent signs, which
 * some of them decode.
 */
const plainName = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .replaceAll(/[^ -~]|["\\%;]/g, '_')

/**
 * Leaves only the characters that RFC 8187 allows, which are fewer than encodeURIComponent leaves.
 */
const encodeName = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/** Gives both forms if they differ. A client that knows the second form ignores the first. */
export const contentDisposition = (name: string): string => {
  const plain = plainName(name)
  return `attachment; filename="${plain}"${plain === name ? '' : `; filename*=UTF-8''${encodeName(name)}`}`
}
