<#
.SYNOPSIS
Installs a release of the runner for Windows, or a newer one over an older one.

.DESCRIPTION
    irm ADDRESS/latest/download/install.ps1 | iex
    & ([scriptblock]::Create((irm ADDRESS/latest/download/install.ps1))) -Version 1.2.3

The release goes to PREFIX\V, and the junction PREFIX\current leads to it, so that PREFIX\current\bin is the
directory for the PATH. PREFIX is %LOCALAPPDATA%\mara. The previous release stays for runs that still use it.
Nothing needs an administrator. The download is checked against its published SHA-256, and, where cosign is
installed, the signature of the sums is verified.

.PARAMETER Version
The release, such as 1.2.3 (default: the newest).
.PARAMETER Prefix
Where to install.
.PARAMETER Releases
The web directory of the releases (also: MARA_RELEASES).
.PARAMETER NoPath
Do not add the directory to the PATH of the user.
.PARAMETER Uninstall
Remove PREFIX, and its directory from the PATH of the user.
.PARAMETER Help
Print this, and do nothing.
#>
param(
    [string]$Version = '',
    [string]$Prefix = '',
    [string]$Releases = '',
    [switch]$NoPath,
    [switch]$Uninstall,
    [switch]$Help
)

function Install-Mara {
    param([string]$Version, [string]$Prefix, [string]$Releases, [bool]$NoPath, [bool]$Uninstall)
    $ErrorActionPreference = 'Stop'
    $ProgressPreference = 'SilentlyContinue' # it slows downloads down tenfold in Windows PowerShell
    [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12

    if (-not $Releases) { $Releases = $env:MARA_RELEASES }
    if (-not $Releases) { $Releases = '@RELEASES@' }
    if (-not $Prefix) {
        if (-not $env:LOCALAPPDATA) { throw 'install.ps1: LOCALAPPDATA is not set: choose a place with -Prefix' }
        $Prefix = Join-Path $env:LOCALAPPDATA 'mara'
    }
    if (-not [IO.Path]::IsPathRooted($Prefix)) { throw "install.ps1: -Prefix: $Prefix is not an absolute path" }
    $current = Join-Path $Prefix 'current'
    $programs = Join-Path $current 'bin'
    $mark = Join-Path $Prefix '.mara' # only a directory with this file is this installer's

    # The PATH of the user as it is stored, with %VARIABLES%; setting it through .NET would write their values instead.
    $stored = "$((Get-Item -LiteralPath 'HKCU:\Environment').GetValue('Path', '', 'DoNotExpandEnvironmentNames'))"
    function Set-UserPath([string]$Path) {
        Set-ItemProperty -LiteralPath 'HKCU:\Environment' -Name Path -Type ExpandString -Value $Path
        [Environment]::SetEnvironmentVariable('MARA_INSTALLED', $null, 'User') # has programs read the PATH again
    }

    if ($Uninstall) {
        if (-not (Test-Path -LiteralPath $mark)) { throw "install.ps1: nothing is installed in $Prefix; -Prefix names another place" }
        if (Test-Path -LiteralPath $current) { [IO.Directory]::Delete($current) } # the junction, not what it leads to
        Remove-Item -LiteralPath $Prefix -Recurse -Force
        $kept = @($stored -split ';' | Where-Object { $_ -and $_ -ne $programs }) -join ';'
        if (($stored -split ';') -contains $programs) { Set-UserPath $kept }
        Write-Output "removed $Prefix"
        return
    }

    if ($Releases.StartsWith('@')) { throw 'install.ps1: this copy does not know where releases are: name the place with -Releases' }
    if (-not [Environment]::Is64BitOperatingSystem) { throw 'install.ps1: there is no release for Windows of 32 bits' }
    if ((Test-Path -LiteralPath $Prefix) -and -not (Test-Path -LiteralPath $mark) -and (Get-ChildItem -LiteralPath $Prefix -Force | Select-Object -First 1)) {
        throw "install.ps1: $Prefix has files that are not from this installer: choose another -Prefix; nothing was changed"
    }

    $work = Join-Path ([IO.Path]::GetTempPath()) ("mara-" + [Guid]::NewGuid())
    New-Item -ItemType Directory -Path $work | Out-Null
    try {
        if (-not $Version) {
            Invoke-WebRequest -UseBasicParsing -Uri "$Releases/latest/download/VERSION" -OutFile "$work\VERSION"
            $Version = (Get-Content -LiteralPath "$work\VERSION" -Raw).Trim()
        }
        $Version = $Version -replace '^v', ''
        if ($Version -notmatch '^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$') {
            throw "install.ps1: that is no version such as 1.2.3: is the address $Releases right, and does a proxy answer for it?"
        }
        $name = "mara_${Version}_windows_amd64"
        foreach ($file in 'checksums.txt', "$name.zip") {
            Invoke-WebRequest -UseBasicParsing -Uri "$Releases/download/v$Version/$file" -OutFile (Join-Path $work $file)
        }

        $signer = $env:MARA_SIGNER
        if (-not $signer -and $Releases.StartsWith('https://github.com/')) { $signer = $Releases -replace '/releases$', '' }
        if ($signer -and (Get-Command cosign -ErrorAction SilentlyContinue)) {
            Invoke-WebRequest -UseBasicParsing -Uri "$Releases/download/v$Version/checksums.txt.sigstore.json" -OutFile "$work\bundle.json"
            & cosign verify-blob --bundle "$work\bundle.json" --certificate-identity-regexp "^$signer/[.]github/workflows/release[.]yml@" `
                --certificate-oidc-issuer https://token.actions.githubusercontent.com "$work\checksums.txt"
            if ($LASTEXITCODE) { throw "install.ps1: $signer has not signed checksums.txt; nothing was changed" }
        }

        $wanted = Get-Content -LiteralPath "$work\checksums.txt" | Where-Object { $_ -match "^([0-9a-f]{64})  $([regex]::Escape("$name.zip"))$" } |
            ForEach-Object { $Matches[1] } | Select-Object -First 1
        if (-not $wanted) { throw "install.ps1: checksums.txt has no $name.zip" }
        $found = (Get-FileHash -Algorithm SHA256 -LiteralPath "$work\$name.zip").Hash.ToLowerInvariant()
        if ($found -ne $wanted) {
            throw "install.ps1: $name.zip is not what was published: its SHA-256 is $found, not $wanted; nothing was changed"
        }
        Expand-Archive -LiteralPath "$work\$name.zip" -DestinationPath $work
        $said = & "$work\$name\bin\runner.exe" version
        if ($LASTEXITCODE) { throw "install.ps1: the runner does not start here: $said" }

        # A program that runs cannot be replaced on Windows: each installation has a directory of its own.
        New-Item -ItemType Directory -Path $Prefix -Force | Out-Null
        Set-Content -LiteralPath $mark -Value 'made by install.ps1'
        $before = ''
        if (Test-Path -LiteralPath $current) {
            $targets = @((Get-Item -LiteralPath $current -Force).Target)
            $before = Split-Path -Leaf $targets[0]
        }
        $place = $Version
        for ($again = 2; Test-Path -LiteralPath (Join-Path $Prefix $place); $again++) { $place = "$Version+$again" }
        $copy = Join-Path $Prefix ".new-$([Guid]::NewGuid())"
        Copy-Item -LiteralPath "$work\$name" -Destination $copy -Recurse
        Move-Item -LiteralPath $copy -Destination (Join-Path $Prefix $place)
        if (Test-Path -LiteralPath $current) { [IO.Directory]::Delete($current) }
        New-Item -ItemType Junction -Path $current -Target (Join-Path $Prefix $place) | Out-Null
        Get-ChildItem -LiteralPath $Prefix -Directory | Where-Object { $_.Name -notin 'current', $place, $before } |
            Remove-Item -Recurse -Force -ErrorAction SilentlyContinue # one that still runs is removed the next time

        Write-Output "$said"
        Write-Output "installed in $(Join-Path $Prefix $place)"
        if (($stored -split ';') -contains $programs) { return }
        if ($NoPath) {
            Write-Output "add it to your PATH: $programs"
            return
        }
        Set-UserPath (@($stored.TrimEnd(';'), $programs | Where-Object { $_ }) -join ';')
        $env:Path = "$env:Path;$programs"
        Write-Output "$programs is on your PATH now; other windows have to be opened again"
    } finally {
        Remove-Item -LiteralPath $work -Recurse -Force -ErrorAction SilentlyContinue
    }
}

if ($Help) {
    Write-Output 'install.ps1 [-Version V] [-Prefix DIR] [-Releases ADDRESS] [-NoPath] | -Uninstall [-Prefix DIR]'
    Write-Output 'Installs a release of the runner in %LOCALAPPDATA%\mara, or removes it; no administrator is needed.'
} else {
    Install-Mara -Version $Version -Prefix $Prefix -Releases $Releases -NoPath $NoPath.IsPresent -Uninstall $Uninstall.IsPresent
}
